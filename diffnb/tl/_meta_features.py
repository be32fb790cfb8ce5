"""`tl.meta_features`: observations seen through differential vectors."""

from __future__ import annotations

import numpy as np
from anndata import AnnData

from .._anndata import all_rows, store
from .._keys import DiscKeys
from ..core.arrays.ops import matmul
from ..get import disc as get_disc
from ..get._common import entry


def meta_features(adata: AnnData, *, key: str = "disc") -> None:
    """Weigh features by the differential vectors and sum them, for every observation (X V).

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    key
        The `key_added` of that call; its layer is used.

    Returns
    -------
    `None`. Adds `obsm[f"X_{key}"]`, observations × vectors, condition by condition.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_components=3)
    >>> dn.tl.meta_features(adata)
    >>> adata.obsm["X_disc"].shape
    (400, 6)
    """
    found = entry(adata, key, "tl.disc(adata, groupby)", ("sigma", "groups", "params"))
    vectors = []
    for group in found["groups"]:
        table = get_disc(adata, group=str(group), key=key)
        vectors.append(table.filter(regex=r"^vector_\d+$").to_numpy())
    # features that took no part weigh nothing
    weights = np.nan_to_num(np.hstack(vectors))
    values = matmul(all_rows(adata, found["params"].get("layer")), weights)
    store(adata, obsm={DiscKeys(key).obsm: values})
