"""`tl.meta_features`: observations summarised by differential vectors."""

from __future__ import annotations

import numpy as np
from anndata import AnnData

from .._anndata import Results, add, all_rows, guarded, has_other_features
from .._keys import DiscKeys
from ..core.arrays.ops import matmul
from ..get._common import entry
from ..get._disc import vectors
from ..get._stale import DATA
from ._docs import documented_tool


@guarded()
@documented_tool
def meta_features(adata: AnnData, *, key: str = "disc", overwrite: bool = False, copy: bool = False) -> AnnData | None:
    """Weight features by the differential vectors and sum them, for every observation (X V).

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    key
        ... Its layer is used, too.
    overwrite
    copy

    Returns
    -------
    `None`, or the copy. Adds `obsm[f"X_{key}"]`, observations × vectors, condition by condition, until
    :func:`diffnb.tl.disc` is called again with this `key_added`. Read it with :func:`diffnb.get.meta_features`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_components=3)
    >>> dn.tl.meta_features(adata)
    >>> adata.obsm["X_disc"].shape
    (400, 6)
    """
    keys = DiscKeys(key)
    found = entry(adata, keys)
    if DATA in found and has_other_features(adata, found[DATA]):
        raise ValueError(
            f"results under key={key!r} are for other features than adata has now, so that observations cannot be"
            f" projected on them; run dn.{keys.made_by} again."
        )
    layer = found["params"].get("layer")
    # excluded features have no weight
    weights = np.nan_to_num(np.hstack([table.to_numpy() for table in vectors(adata, key=key).values()]))
    values = matmul(all_rows(adata, layer), weights)
    return add(adata, keys, Results(obsm={keys.obsm: values}), copy=copy, overwrite=overwrite)
