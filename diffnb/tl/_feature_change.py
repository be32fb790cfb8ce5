"""`tl.feature_change`: diffusion maps for changing data, which DiSC is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Results, bound, expand, pull, store
from .._keys import ChangeKeys
from ..core.disc import diffusion_change, feature_walks
from ._docs import documented_tool
from ._feature_graph import check_graph, graph_options


@documented_tool
def feature_change(
    adata: AnnData,
    groupby: str,
    *,
    groups: Sequence[str] | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    metric: Literal["euclidean", "correlation", "cosine"] = "euclidean",
    graph: Literal["dense", "knn"] = "knn",
    neighbors: Literal["auto", "exact", "approximate"] = "auto",
    n_neighbors: int | Literal["auto"] = "auto",
    n_eigenvectors: int = 50,
    n_steps: int = 1,
    random_state: int = 0,
    key_added: str = "feature_change",
    copy: bool = False,
) -> AnnData | None:
    """Measure how far each feature moves between the graphs of two conditions.

    The diffusion distance of a feature from itself, from one condition to the other: how differently a random
    walk on the features spreads from it. It counts every change, specific to a condition or not, which is why
    the DiSC paper compares it with :func:`diffnb.tl.disc`.

    Parameters
    ----------
    adata
    groupby
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
    copy

    Returns
    -------
    `None`, or the copy. Adds `var[key_added]` (the distance of every feature) and `uns[key_added]`
    (conditions and parameters). Read it with :func:`diffnb.get.feature_change`.

    References
    ----------
    Coifman & Hirn, *Diffusion maps for changing data*, Appl. Comput. Harmon. Anal. 2014.

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
    check_graph(metric, graph, neighbors)
    data = pull(adata, groupby, groups=groups, layer=layer, mask_var=mask_var)
    if len(data.groups) != 2:
        raise ValueError(
            f"a change is between two conditions, but groupby={groupby!r} has {len(data.groups)}"
            f" ({validate.quoted(data.groups)}); name two of them with groups=[…]."
        )
    p = data.n_features
    options = graph_options(metric, graph, neighbors, n_neighbors, random_state, p)
    n_eigenvectors = min(validate.count("n_eigenvectors", n_eigenvectors, why=f"there are {p} features"), p - 1)
    n_steps = validate.count("n_steps", n_steps)
    graphs = feature_walks(data.matrices, options)
    moved = diffusion_change(*graphs.walks, n_eigenvectors=n_eigenvectors, n_steps=n_steps, seed=options.seed)
    keys = ChangeKeys(key_added)
    results = Results(
        var={keys.var: expand(moved, data.kept)},
        described={
            "groups": np.array(data.groups, dtype=object),
            "neighbors": graphs.settings.search,
            "n_neighbors": graphs.settings.n_neighbors,
        },
    )
    return store(adata, keys, results, call, copy=copy)
