"""Table of the diffusion maps of features."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import DiffmapKeys
from ._common import entry


def feature_diffmap(adata: AnnData, *, key: str = "feature_diffmap") -> pd.DataFrame:
    """Read the diffusion maps of features, one per condition.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.feature_diffmap`.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a feature and condition; columns `group`, `vector_1` ….

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.feature_diffmap(adata, "condition", n_components=2)
    >>> dn.get.feature_diffmap(adata).shape
    (500, 3)
    """
    found = entry(adata, key, "tl.feature_diffmap(adata, groupby)", ("eigenvalues", "groups"))
    values = np.asarray(adata.varm[DiffmapKeys(key).varm])
    r = np.asarray(found["eigenvalues"]).shape[1]
    tables = []
    for m, group in enumerate(found["groups"]):
        table = pd.DataFrame(
            values[:, m * r : (m + 1) * r],
            index=adata.var_names,
            columns=[f"vector_{i + 1}" for i in range(r)],
        )
        table.insert(0, "group", str(group))
        tables.append(table)
    return pd.concat(tables)
