"""Observations as differential vectors see them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import DiscKeys, plain, unique
from ._common import entry


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
    One row an observation; a column for each vector of each condition, `A_1`, `A_2` ….

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_components=2)
    >>> dn.tl.meta_features(adata)
    >>> dn.get.meta_features(adata).columns.tolist()
    ['A_1', 'A_2', 'B_1', 'B_2']
    """
    found = entry(adata, key, "tl.disc(adata, groupby)", ("sigma", "groups"))
    slot = DiscKeys(key).obsm
    if slot not in adata.obsm:
        raise KeyError(f"no meta-features under key={key!r}; run dn.tl.meta_features(adata, key={key!r}) first.")
    r = np.asarray(found["sigma"]).shape[1]
    columns = unique([f"{plain(str(group))}_{i + 1}" for group in found["groups"] for i in range(r)])
    return pd.DataFrame(np.asarray(adata.obsm[slot]), index=adata.obs_names, columns=columns)
