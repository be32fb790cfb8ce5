"""Tables of what `tl.feature_diffmap` and `tl.feature_change` found."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import ChangeKeys, DiffmapKeys
from ..core.stats.pvalues import adjusted
from ._common import entry, labelled, named, ranked, slot
from ._docs import documented_reader


@documented_reader
def feature_diffmap(adata: AnnData, *, key: str = "feature_diffmap") -> pd.DataFrame:
    """Read the diffusion maps of features, one per condition.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.feature_diffmap`.
    key

    Returns
    -------
    One row per feature and condition; columns `group`, `vector_1` …. Excluded features are missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.feature_diffmap(adata, "condition", n_components=2)
    >>> dn.get.feature_diffmap(adata).shape
    (500, 3)
    """
    keys = DiffmapKeys(key)
    found = entry(adata, keys)
    groups = [str(group) for group in found["groups"]]
    columns = keys.columns(groups, np.asarray(found["eigenvalues"]).shape[1])
    return pd.concat([labelled(named(adata, keys, columns[group]), group=group) for group in groups])


@documented_reader
def feature_change(adata: AnnData, *, key: str = "feature_change") -> pd.DataFrame:
    """Read how much every feature changes between two conditions.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.feature_change`.
    key

    Returns
    -------
    One row per feature, the one that changes most first; columns `change` (by the method of the call), for change
    detectors `pval` (the chance that a feature without change scores as high) and `pval_adj` (Benjamini–Hochberg), and
    `rank` (from 1). Excluded features come last, with missing values. P-values take the bulk of the features as
    unchanged; how well that holds depends on the detector and the scene.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.hyperspectral_tarp(size=30, n_bands=30)
    >>> dn.tl.feature_change(adata, "condition")
    >>> dn.get.feature_change(adata).columns.tolist()
    ['change', 'rank']
    """
    keys = ChangeKeys(key)
    found = entry(adata, keys)
    change = slot(adata, keys, "var", keys.var).to_numpy(dtype=float)
    columns = {"change": change}
    if found["change"] != "diffusion" and keys.pval in adata.var:
        pval = slot(adata, keys, "var", keys.pval).to_numpy(dtype=float)
        columns |= {"pval": pval, "pval_adj": adjusted(pval)}
    return ranked(adata, columns, -change)
