"""Observations summarised by differential vectors."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import DiscKeys
from ._common import entry
from ._docs import documented_reader


@documented_reader
def meta_features(adata: AnnData, *, key: str = "disc") -> pd.DataFrame:
    """Read the meta-features of every observation.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.meta_features`.
    key
        The `key_added` of :func:`diffnb.tl.disc`.

    Returns
    -------
    One row per observation; a column for each vector of each condition, `A_1`, `A_2` ….

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_components=2)
    >>> dn.tl.meta_features(adata)
    >>> dn.get.meta_features(adata).columns.tolist()
    ['A_1', 'A_2', 'B_1', 'B_2']
    """
    keys = DiscKeys(key)
    found = entry(adata, keys)
    columns = keys.meta_features([str(group) for group in found["groups"]], np.asarray(found["sigma"]).shape[1])
    values = adata.obsm.get(keys.obsm)
    # an array of another shape is not from `tl.meta_features`
    if values is None or np.shape(values) != (adata.n_obs, len(columns)):
        raise KeyError(f"no meta-features under key={key!r}; run dn.tl.meta_features(adata, key={key!r}) first.")
    return pd.DataFrame(np.asarray(values), index=adata.obs_names, columns=columns)
