"""`tl.feature_diffmap`: diffusion maps of the features of each condition, which DiSC is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import expand, pull, store
from .._keys import DiffmapKeys, plain, unique
from ..core.disc import Settings, diffusion_maps, neighbors_for, with_search
from ..core.spectral.distances import METRICS
from ..core.spectral.feature_knn import SEARCHES
from ..core.spectral.points import points_of


def feature_diffmap(
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
    n_components: int = 10,
    random_state: int = 0,
    key_added: str = "feature_diffmap",
    copy: bool = False,
) -> AnnData | None:
    """Diffusion maps of the features, for each condition by itself.

    The leading eigenvectors of the random walk on features show all structure of a condition, shared or not;
    the paper sets DiSC beside them.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    groupby
        Column of `adata.obs` with the conditions.
    groups
        Conditions to use; all by default.
    layer
        Layer to use instead of `adata.X`.
    mask_var
        Boolean column of `adata.var`, or array: the features to use.
    metric
        Distance between features.
    graph
        `"dense"` or `"knn"`.
    neighbors
        `"exact"`, `"approximate"` or `"auto"`, as in :func:`diffnb.tl.disc`.
    n_neighbors
        The local scale of a feature is the distance to this neighbour; `"auto"` as in :func:`diffnb.tl.disc`.
    n_components
        Vectors per condition, the constant one left out.
    random_state
        Seed of the eigensolver.
    key_added
        Name under which results are stored.
    copy
        Work on a copy and return it.

    Returns
    -------
    `None`, or the copy. Adds `varm[key_added]` (a column per condition and vector) and `uns[key_added]`
    (eigenvalues and parameters).

    References
    ----------
    Coifman & Lafon, *Diffusion maps*, Appl. Comput. Harmon. Anal. 2006; Figs. 2(e) and 3(d) of the DiSC paper.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.feature_diffmap(adata, "condition", n_components=2)
    >>> adata.varm["feature_diffmap"].columns.tolist()
    ['A_vector_1', 'A_vector_2', 'B_vector_1', 'B_vector_2']
    """
    validate.choice("metric", metric, METRICS)
    validate.choice("graph", graph, ("dense", "knn"))
    check_neighbors(neighbors, graph)
    data = pull(adata, groupby, groups=groups, layer=layer, mask_var=mask_var)
    p = data.n_features
    k = neighbors_of(n_neighbors, p)
    settings = Settings(
        n_neighbors=k,
        n_eigenvectors=(),
        graph=graph,
        metric=metric,
        seed=validate.count("random_state", random_state, at_least=0),
    )
    settings = with_search(settings, points_of(data.matrices[0]), neighbors)
    n_components = validate.count("n_components", n_components, at_most=p - 2, why=f"there are {p} features")
    maps = diffusion_maps(data.matrices, n_components, settings)
    names = unique([f"{plain(g)}_vector_{i + 1}" for g in data.groups for i in range(n_components)])
    table = pd.DataFrame(expand(np.hstack([vectors for _, vectors in maps]), data.kept), columns=names)
    keys = DiffmapKeys(key_added)
    adata = adata.copy() if copy else adata
    store(
        adata,
        varm={keys.varm: table},
        uns={
            keys.uns: {
                "eigenvalues": np.stack([values for values, _ in maps]),
                "groups": np.array(data.groups, dtype=object),
                "neighbors": settings.neighbors,
                "params": {
                    "groupby": groupby,
                    "layer": layer,
                    "metric": metric,
                    "graph": graph,
                    "neighbors": neighbors,
                    "n_neighbors": k,
                    "random_state": random_state,
                },
            }
        },
    )
    return adata if copy else None


def check_neighbors(neighbors: object, graph: object, /) -> None:
    """Refuse a word that is no search, and an approximate search for a graph that needs every distance."""
    validate.choice("neighbors", neighbors, SEARCHES)
    if neighbors == "approximate" and graph == "dense":
        raise ValueError(
            "neighbors='approximate' has no part in graph='dense', which needs every distance; take graph='knn'."
        )


def neighbors_of(n_neighbors: object, p: int, /) -> int:
    """Read `n_neighbors`, a number or `"auto"`."""
    if isinstance(n_neighbors, str):
        validate.choice("n_neighbors", n_neighbors, ("auto",))
        return neighbors_for(p)
    return validate.count("n_neighbors", n_neighbors, at_most=p - 1, why=f"there are {p} features")
