"""`tl.feature_diffmap`: diffusion maps of the features of each condition, which DiSC is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import Results, bound, expand, guarded, pull, store
from .._keys import DiffmapKeys
from .._options.feature_graph import check_graph, check_memory, graph_options
from ..core.disc import diffusion_maps
from ._docs import documented_tool


@guarded(DiffmapKeys)
@documented_tool
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
    overwrite: bool = False,
    copy: bool = False,
) -> AnnData | None:
    """Compute diffusion maps of the features, for each condition separately.

    The leading eigenvectors of the random walk on features show all structure of a condition, shared or not;
    the paper compares DiSC with them.

    Parameters
    ----------
    adata
    groupby
    groups
    layer
    mask_var
    metric
    graph
    neighbors
    n_neighbors
        The local scale of a feature is the distance to this neighbour; `"auto"` as in :func:`diffnb.tl.disc`.
    n_components
        Vectors per condition, without the constant one.
    random_state
    key_added
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `varm[key_added]` (a column per condition and vector) and `uns[key_added]`
    (eigenvalues and parameters). Read them with :func:`diffnb.get.feature_diffmap`.

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
    call = bound(feature_diffmap, locals())
    validate.flags(copy=copy)
    check_graph(metric, graph, neighbors)
    data = pull(adata, groupby, groups=groups, layer=layer, mask_var=mask_var, min_features=3)
    p = data.n_features
    check_memory(graph, p, len(data.groups))
    options = graph_options(metric, graph, neighbors, n_neighbors, random_state, p)
    n_components = validate.count("n_components", n_components, at_most=p - 2, why=f"there are {p} features")
    maps = diffusion_maps(data.matrices, options, n_components=n_components)
    keys = DiffmapKeys(key_added)
    names = [stored for of_group in keys.columns(data.groups, n_components).values() for stored in of_group.values()]
    results = Results(
        varm={keys.varm: pd.DataFrame(expand(np.hstack(list(maps.vectors)), data.kept), columns=names)},
        described={
            "eigenvalues": maps.eigenvalues,
            "groups": np.array(data.groups, dtype=object),
            "neighbors": maps.settings.search,
            "n_neighbors": maps.settings.n_neighbors,
        },
    )
    return store(adata, keys, results, call, copy=copy)
