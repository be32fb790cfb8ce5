"""`tl.feature_change`: diffusion maps for changing data, which DiSC is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from anndata import AnnData

from .. import _validate as validate
from .._anndata import expand, pull, store
from .._keys import ChangeKeys
from ..core.disc import Settings, as_points, diffusion_change, feature_walk, with_search
from ..core.spectral.distances import METRICS
from ..core.spectral.points import points_of
from ._feature_diffmap import check_neighbors, neighbors_of


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
    walk on the features spreads from it. It counts every change, be it particular to a condition or not, which
    is why the DiSC paper sets it beside :func:`diffnb.tl.disc`.

    Parameters
    ----------
    adata
        Annotated data, observations × features.
    groupby
        Column of `adata.obs` with the conditions.
    groups
        The two conditions to compare, where there are more.
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
    n_eigenvectors
        Eigenvectors of each graph that the distance is made of.
    n_steps
        Steps of the random walk.
    random_state
        Seed of the eigensolver.
    key_added
        Name under which results are stored.
    copy
        Work on a copy and return it.

    Returns
    -------
    `None`, or the copy. Adds `var[key_added]` (the distance of every feature) and `uns[key_added]`
    (conditions and parameters).

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
    validate.choice("metric", metric, METRICS)
    validate.choice("graph", graph, ("dense", "knn"))
    check_neighbors(neighbors, graph)
    data = pull(adata, groupby, groups=groups, layer=layer, mask_var=mask_var)
    if len(data.groups) != 2:
        raise ValueError(
            f"a change is between two conditions, but groupby={groupby!r} has {len(data.groups)}"
            f" ({validate.quoted(data.groups)}); name two of them with groups=[…]."
        )
    p = data.n_features
    settings = Settings(neighbors_of(n_neighbors, p), (), graph=graph, metric=metric, seed=_seed(random_state))
    settings = with_search(settings, points_of(data.matrices[0]), neighbors)
    few = f"there are {p} features"
    first, second = (feature_walk(points, settings) for points in as_points(data.matrices, None))
    moved = diffusion_change(
        first,
        second,
        n_eigenvectors=min(validate.count("n_eigenvectors", n_eigenvectors, why=few), p - 1),
        n_steps=validate.count("n_steps", n_steps),
        seed=settings.seed,
    )
    params = {
        "groupby": groupby,
        "layer": layer,
        "metric": metric,
        "graph": graph,
        "neighbors": neighbors,
        "n_neighbors": settings.n_neighbors,
        "n_eigenvectors": n_eigenvectors,
        "n_steps": n_steps,
        "random_state": random_state,
    }
    keys = ChangeKeys(key_added)
    adata = adata.copy() if copy else adata
    store(
        adata,
        var={keys.var: expand(moved, data.kept)},
        uns={
            keys.uns: {
                "groups": np.array(data.groups, dtype=object),
                "neighbors": settings.neighbors,
                "params": params,
            }
        },
    )
    return adata if copy else None


def _seed(random_state: object) -> int:
    return validate.count("random_state", random_state, at_least=0)
