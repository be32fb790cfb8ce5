"""`tl.laplacian_score`: how smooth every feature is on the graph of observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from anndata import AnnData

from .. import _validate as validate
from .._anndata import expand, pull_all, store
from .._keys import LaplacianScoreKeys
from ..core.dufs import EDGE_WEIGHTS, LaplacianScoreOptions, fit_laplacian_score


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
    copy: bool = False,
) -> AnnData | None:
    """Score every feature by how little it varies between neighbouring observations (Laplacian score).

    The classical companion of :func:`diffnb.tl.dufs`: one graph for all features, made by all of them, so that
    many nuisance features hide what few others have in common.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    n_neighbors
        Neighbours of every observation in the graph.
    weights
        `"binary"`: all edges alike; `"heat"`: exp(−d²/t), t the median squared distance along edges.
    use_rep
        Representation in `adata.obsm` that makes the graph, such as `"X_pca"`; by default the features. With
        large dask arrays it saves a pass over the data for every 256 MB of it.
    layer
        Layer to use instead of `adata.X`.
    mask_var
        Boolean column of `adata.var`, or array: the features to use.
    standardize
        `"global"`: features over their standard deviation, for the graph; `None`: as they are. The score of a
        feature does not depend on its own scale.
    key_added
        Name under which results are stored.
    copy
        Work on a copy and return it.

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
    validate.choice("weights", weights, EDGE_WEIGHTS)
    if standardize is not None:
        validate.choice("standardize", standardize, ("global",))
    data = pull_all(adata, layer=layer, mask_var=mask_var)
    points = data.matrix if use_rep in (None, "X") else pull_all(adata, use_rep=use_rep).matrix
    few = f"there are {adata.n_obs} observations"
    validate.count("n_neighbors", n_neighbors, at_most=adata.n_obs - 1, why=few)
    options = LaplacianScoreOptions(n_neighbors, weights, standardize)
    fit = fit_laplacian_score(data.matrix, options, points=points)
    params = {
        "n_neighbors": n_neighbors,
        "weights": weights,
        "use_rep": use_rep,
        "layer": layer,
        "standardize": standardize,
    }
    adata = adata.copy() if copy else adata
    keys = LaplacianScoreKeys(key_added)
    described = {"params": params, "column": keys.var, "n_constant": data.n_constant}
    store(adata, var={keys.var: expand(fit.scores, data.kept)}, uns={keys.uns: described})
    return adata if copy else None
