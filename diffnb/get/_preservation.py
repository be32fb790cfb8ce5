"""Tables of what `tl.preservation` and `tl.project` found."""

from __future__ import annotations

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import PreservationKeys, ProjectionKeys
from ..core.preservation import COMPOSITES, STATISTICS
from ._common import entry, wrote
from ._docs import documented_reader


@documented_reader
def preservation(adata: AnnData, *, key: str = "preservation") -> pd.DataFrame:
    """Read which groups of a reference are connected in this data set.

    Parameters
    ----------
    adata
        Annotated data, the query of :func:`diffnb.tl.preservation`.
    key

    Returns
    -------
    One row per group; columns

    - `condition` in which the group was found, `n_features`, and `n_matched` of them that vary in both data sets;
    - `preserved`: whether the adjusted p-values of density and separability are at most .05;
    - `density_z`, `density_pval`, `density_pval_adj`, and the same for `connectivity` and `separability`: mean z
      score of the statistics of that kind against random sets of features;
    - `difference`: mean correlation, with the signs of the reference, minus that in the other conditions of the query,
      with p-values; missing without `groupby`;
    - `n_samples` and `sample_pval`: a t test over samples that the group exceeds random sets; missing without them;
    - every statistic by itself, with its p-value: `avg_weight`, `coherence`, `avg_cor`, `avg_contribution`,
      `cor_cor`, `cor_degree`, `cor_contribution` and `separability` (`…_stat_pval`).

    Examples
    --------
    >>> import diffnb as dn
    >>> reference, query = (dn.datasets.newly_connected(n_obs=200, random_state=i) for i in range(2))
    >>> dn.tl.disc(reference, "condition")
    >>> dn.tl.preservation(reference, query, n_permutations=99)
    >>> dn.get.preservation(query)[["condition", "n_matched"]].values.tolist()
    [['A', 25], ['A', 25], ['B', 25], ['B', 25]]
    """
    found = entry(adata, PreservationKeys(key))
    tests = [f"{name}_{value}" for name in COMPOSITES for value in ("z", "pval", "pval_adj")]
    single = [f"{name}{ending}" for name in STATISTICS for ending in ("", "_stat_pval")]
    further = ["difference", "difference_pval", "difference_pval_adj", "n_samples", "sample_pval"]
    names = ["n_features", "n_matched", "preserved", *tests, *further, *single]
    index = pd.Index([str(name) for name in np.atleast_1d(found["groups"])], name="feature_group")
    table = pd.DataFrame({name: np.atleast_1d(found[name]) for name in names}, index=index)
    table.insert(0, "condition", [str(name) for name in np.atleast_1d(found["conditions"])])
    return table


@documented_reader
def projection(adata: AnnData, *, key: str = "projected") -> pd.DataFrame:
    """Read what was projected from a reference, and how much of it the features of this data set hold.

    Parameters
    ----------
    adata
        Annotated data, the query of :func:`diffnb.tl.project`.
    key

    Returns
    -------
    One row per column of `obsm[f"X_{key}"]`, per group of `obsm[f"X_{key}_groups"]`, or one for a selection:
    `kind` (`"projection"`, `"group"`, `"selection"`) and `matched`, the share of the squared weights (of the features)
    that the query has.

    Examples
    --------
    >>> import diffnb as dn
    >>> reference, query = (dn.datasets.newly_connected(n_obs=200, random_state=i) for i in range(2))
    >>> dn.tl.disc(reference, "condition", n_components=2)
    >>> dn.tl.project(query[:, 10:].copy(), reference, copy=True).uns["projected"]["n_missing"]
    10
    """
    keys = ProjectionKeys(key)
    found = entry(adata, keys)
    kind = "projection" if wrote(found, "obsm", keys.obsm, adata) else "selection"
    parts = [(kind, found["columns"], found["matched"])]
    if "groups" in found:
        parts.append(("group", found["groups"], found["matched_groups"]))
    rows = [(str(n), k, float(m)) for k, names, shares in parts for n, m in zip(names, shares, strict=True)]
    table = pd.DataFrame(rows, columns=["name", "kind", "matched"])
    return table.set_index("name")
