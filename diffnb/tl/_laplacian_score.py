"""`tl.laplacian_score`: how smooth every feature is on the graph of observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Results, bound, expand, guarded, pull_all, store, warn_of_units
from .._keys import LaplacianScoreKeys
from ..core.dufs import EDGE_WEIGHTS, LaplacianScoreOptions, fit_laplacian_score
from ._docs import documented_tool


@guarded(LaplacianScoreKeys)
@documented_tool
def laplacian_score(
    adata: AnnData,
    *,
    n_neighbors: int = 5,
    weights: Literal["binary", "heat"] = "binary",
    use_rep: str | None = None,
    layer: str | None = None,
    mask_var: str | Sequence[bool] | np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    standardize: Literal["global"] | None = "global",
    key_added: str = "laplacian_score",
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Score every feature by how little it varies between neighbouring observations (Laplacian score).

    The classical companion of :func:`diffnb.tl.dufs`: one graph for all features, made by all of them, so that
    many nuisance features hide what few others have in common.

    Parameters
    ----------
    adata
    n_neighbors
        Neighbours of every observation in the graph, the observation itself not counted.
    weights
        `"binary"`: all edges alike; `"heat"`: exp(−d²/t), t the median squared distance along edges.
    use_rep
        ... Only the graph is made from it; scores are those of the features. With large dask arrays it saves a
        pass over the data for every 256 MB of it.
    layer
    mask_var
    standardize
        ... For the graph; the score of a feature does not depend on its own scale.
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `var[key_added]`, the score of each feature, 0 for the smoothest and about 1 for
    noise, and `uns[key_added]`, the parameters. Read them with :func:`diffnb.get.laplacian_score`.

    References
    ----------
    He, Cai & Niyogi, *Laplacian Score for Feature Selection*, NIPS 2005.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.two_moons(3)
    >>> dn.tl.laplacian_score(adata)
    >>> sorted(dn.get.laplacian_score(adata).index[:2])
    ['moon_x', 'moon_y']
    """
    call = bound(laplacian_score, locals())
    validate.flags(copy=copy)
    validate.choice("weights", weights, EDGE_WEIGHTS)
    if standardize is not None:
        validate.choice("standardize", standardize, ("global",))
    data = pull_all(adata, layer=layer, mask_var=mask_var)
    warn_of_units(adata, layer)
    points = data.matrix if use_rep in (None, "X") else pull_all(adata, use_rep=use_rep).matrix
    few = f"there are {adata.n_obs} observations"
    validate.count("n_neighbors", n_neighbors, at_most=adata.n_obs - 1, why=few)
    options = LaplacianScoreOptions(n_neighbors, weights, standardize)
    fit = fit_laplacian_score(data.matrix, options, points=points)
    keys = LaplacianScoreKeys(key_added)
    results = Results(
        var={keys.var: expand(fit.scores, data.kept)}, described={"column": keys.var, "n_constant": data.n_constant}
    )
    return store(adata, keys, results, call, copy=copy)
