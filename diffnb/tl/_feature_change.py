"""`tl.feature_change`: how much every feature changes between two conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from anndata import AnnData

from .. import _logging as log
from .. import _validate as validate
from .._anndata import Pulled, Results, bound, expand, guarded, pull, store
from .._keys import ChangeKeys
from .._options.feature_graph import check_graph, check_memory, graph_options
from ..core.arrays.ops import dense64
from ..core.disc import CHANGE_DETECTORS, bulk_pvalues, diffusion_change, feature_walks
from ..core.typing import Floats
from ._docs import documented_tool

METHODS = ("diffusion", *CHANGE_DETECTORS)
DEFAULT_EIGENVECTORS = 50


@guarded(ChangeKeys)
@documented_tool
def feature_change(
    adata: AnnData,
    groupby: str,
    *,
    method: Literal[
        "diffusion", "spectral_angle", "difference_rx", "chronochrome", "projected_chronochrome", "ir_mad"
    ] = "diffusion",
    groups: Sequence[str] | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    metric: Literal["euclidean", "correlation", "cosine"] = "euclidean",
    graph: Literal["dense", "knn"] = "knn",
    neighbors: Literal["auto", "exact", "approximate"] = "auto",
    n_neighbors: int | Literal["auto"] = "auto",
    n_eigenvectors: int = DEFAULT_EIGENVECTORS,
    n_steps: int = 1,
    random_state: int = 0,
    key_added: str = "feature_change",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Measure how much each feature changes between two conditions.

    With `method="diffusion"`, the diffusion distance of a feature from itself, from one condition to the other: how
    differently a random walk on the features spreads from it. It counts every change, specific to a condition or not,
    which is why the DiSC paper compares it with :func:`diffnb.tl.disc`.

    The other methods are change detectors of remote sensing. They compare each pixel with itself, so observations
    (bands) of both conditions must correspond one by one. Use them to find which pixels of a real scene changed: on
    semi-synthetic pairs they find small targets that DiSC misses. Begin with `"projected_chronochrome"`.

    Parameters
    ----------
    adata
    groupby
    method
        `"diffusion"`; `"spectral_angle"` between both spectra of a feature; `"difference_rx"`, the Mahalanobis
        distance of their difference; `"chronochrome"`, that of the residual of a regression on the first condition,
        which absorbs changes of illumination; `"projected_chronochrome"`, the same without the part that a change of
        brightness of the pixel would explain; `"ir_mad"`, iteratively reweighted multivariate alteration detection. All
        parameters of the graph below are for `"diffusion"` only.
    groups
        ... There must be two of them.
    layer
    mask_var
    metric
    graph
    neighbors
    n_neighbors
        The local scale of a feature is the distance to this neighbour; `"auto"` as in :func:`diffnb.tl.disc`.
    n_eigenvectors
        Eigenvectors of each graph from which the distance is computed.
    n_steps
        Steps of the random walk.
    random_state
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `var[key_added]` (the change of every feature), for detectors
    `var[key_added + "_pval"]` (the chance that a pixel without change scores as high, if most pixels have not changed
    and the logarithm of their scores is normal), and `uns[key_added]` (conditions and parameters). Read them with
    :func:`diffnb.get.feature_change`.

    References
    ----------
    Coifman & Hirn, *Diffusion maps for changing data*, Appl. Comput. Harmon. Anal. 2014. Reed & Yu, IEEE Trans.
    Acoust. Speech Signal Process. 1990 (RX). Schaum & Stocker, Proc. SPIE 5425, 2004 (chronochrome). Nielsen, IEEE
    Trans. Image Process. 2007 (IR-MAD). Efron, J. Am. Stat. Assoc. 2004 (p-values from the bulk of the scores).

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.hyperspectral_tarp(size=30, n_bands=30)
    >>> dn.tl.feature_change(adata, "condition")
    >>> tarp = adata.var["material"] == "tarp"
    >>> bool(adata.var["feature_change"][tarp].median() > adata.var["feature_change"][~tarp].median())
    True
    """
    call = bound(feature_change, locals())
    validate.flags(copy=copy)
    validate.choice("method", method, METHODS)
    check_graph(metric, graph, neighbors)
    data = pull(adata, groupby, groups=groups, layer=layer, mask_var=mask_var, min_features=2)
    if len(data.groups) != 2:
        raise ValueError(
            f"a change is between two conditions, but groupby={groupby!r} has {len(data.groups)}"
            f" ({validate.quoted(data.groups)}); name two of them with groups=[…]."
        )
    p = data.n_features
    check_memory(graph, p, len(data.groups))
    # checked for every method: an argument that is not used now may be replayed with one that uses it
    options = graph_options(metric, graph, neighbors, n_neighbors, random_state, p)
    n_eigenvectors = _number_of_eigenvectors(n_eigenvectors, p)
    n_steps = validate.repeats("n_steps", n_steps, at_least=1)
    keys = ChangeKeys(key_added)
    described: dict[str, Any] = {"groups": np.array(data.groups, dtype=object), "change": method}
    if method == "diffusion":
        graphs = feature_walks(data.matrices, options)
        change = diffusion_change(*graphs.walks, n_eigenvectors=n_eigenvectors, n_steps=n_steps, seed=options.seed)
        described |= {"neighbors": graphs.settings.search, "n_neighbors": graphs.settings.n_neighbors}
        columns = {keys.var: change}
    else:
        change = CHANGE_DETECTORS[method](*_corresponding(data, method))
        columns = {keys.var: change, keys.pval: bulk_pvalues(change)}
    var = {name: expand(values, data.kept) for name, values in columns.items()}
    return store(adata, keys, Results(var=var, described=described), call, copy=copy)


def _number_of_eigenvectors(n_eigenvectors: object, p: int) -> int:
    """Warn of a number that cannot be reached; the default means "as many as there are" for few features."""
    number = validate.count("n_eigenvectors", n_eigenvectors)
    if number != DEFAULT_EIGENVECTORS and number > p - 1:
        log.warn(f"n_eigenvectors={number}: the graph of {p} features has {p - 1} beside the constant one.")
    return min(number, p - 1)


def _corresponding(data: Pulled, method: str) -> list[Floats]:
    """Return both conditions as dense arrays, whose rows must be the same observations."""
    sizes = dict(zip(data.groups, (x.shape[0] for x in data.matrices), strict=True))
    if len(set(sizes.values())) > 1:
        counts = " and ".join(f"{group!r} has {n}" for group, n in sizes.items())
        raise ValueError(
            f"method={method!r} compares the observations of both conditions one by one, but {counts}. Bands must"
            " correspond; for other data use method='diffusion'."
        )
    n_bands, n_pixels = data.matrices[0].shape
    if method != "spectral_angle" and n_pixels <= 2 * n_bands:
        raise ValueError(
            f"method={method!r} estimates how the {n_bands} bands of both images covary from {n_pixels} pixels, and"
            f" needs more than {2 * n_bands}, since fewer are fitted exactly: merge or leave out bands, or use"
            " method='spectral_angle'."
        )
    return [dense64(x) for x in data.matrices]
