"""Tables of what `tl.disc` found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import DiscKeys
from ._common import entry


def disc(adata: AnnData, *, group: str | None = None, key: str = "disc") -> pd.DataFrame:
    """Read the differential vectors and groups of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
        A condition; all under each other by default.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a feature (and condition), in the order of `adata.var_names`; columns `group` (the condition),
    `vector_1` …, `score`, `feature_group`, and `stability` and `spread_1` … where they were computed. Features
    that took no part are missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition", n_components=4)
    >>> dn.get.disc(adata, group="B").columns.tolist()
    ['group', 'vector_1', 'vector_2', 'vector_3', 'vector_4', 'score', 'feature_group']
    """
    found = entry(adata, key, "tl.disc(adata, groupby)", ("sigma", "groups", "group_columns"))
    groups = [str(g) for g in found["groups"]]
    wanted = groups if group is None else [_known(group, groups)]
    values = np.asarray(adata.varm[DiscKeys(key).varm])
    names = column_names(found)
    tables = []
    for name in wanted:
        m = groups.index(name)
        table = pd.DataFrame(values[:, m * len(names) : (m + 1) * len(names)], index=adata.var_names, columns=names)
        table.insert(0, "group", name)
        table.insert(names.index("score") + 2, "feature_group", adata.var[found["group_columns"][m]].array)
        tables.append(table)
    return tables[0] if len(tables) == 1 else _under_each_other(tables)


def disc_significance(adata: AnnData, *, key: str = "disc") -> pd.DataFrame:
    """Read the significance levels σ and their p-values.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a condition and component; columns `group`, `component` (from 1), `sigma`, `pval`, and for the
    tested statistic `sigma_tested`, `null_median` and `null_95` (median and 95 % quantile over permutations);
    NaN where nothing was tested. Under `null="connectivity"` the tested σ is that of data standardised
    within conditions; where samples were analysed one by one it is how well they agree, 1 at most.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_permutations=19)
    >>> dn.get.disc_significance(adata).query("component == 1")["pval"].tolist()
    [0.05, 0.05]
    """
    found = entry(adata, key, "tl.disc(adata, groupby)", ("sigma", "groups"))
    sigma = np.asarray(found["sigma"])
    n_groups, r = sigma.shape
    tested = "pvals" in found
    table = pd.DataFrame(
        {
            "group": np.repeat([str(g) for g in found["groups"]], r),
            "component": np.tile(np.arange(1, r + 1), n_groups),
            "sigma": sigma.ravel(),
            "pval": _tested(found["pvals"], r) if tested else np.nan,
            "sigma_tested": _tested(found["sigma_tested"], r) if tested else np.nan,
        }
    )
    null = np.asarray(found["sigma_null"]) if tested else None
    for name, share in (("null_median", 0.5), ("null_95", 0.95)):
        table[name] = np.nan if null is None else _tested(np.quantile(null, share, axis=0), r)
    return table


def _tested(values: Any, r: int) -> Any:
    """Fit what was tested to the table: the test may have fewer or more components."""
    values = np.asarray(values)
    if values.shape[1] < r:
        values = np.pad(values, ((0, 0), (0, r - values.shape[1])), constant_values=np.nan)
    return values[:, :r].ravel()


def column_names(found: Any) -> list[str]:
    """Name the columns that each condition has in the stored table, in their order."""
    r = np.asarray(found["sigma"]).shape[1]
    names = [f"vector_{i + 1}" for i in range(r)] + ["score"]
    if found["has_stability"]:
        names.append("stability")
    if found["has_spread"]:
        names += [f"spread_{i + 1}" for i in range(r)]
    return names


def _known(group: str, groups: list[str]) -> str:
    if str(group) not in groups:
        raise ValueError(
            f"group={group!r} was not compared; there are {validate.quoted(groups)}.{validate.nearest(group, groups)}"
        )
    return str(group)


def _under_each_other(tables: list[pd.DataFrame]) -> pd.DataFrame:
    # categories differ between conditions; concat would turn the column to objects
    categories = list(dict.fromkeys(c for t in tables for c in t["feature_group"].cat.categories))
    for table in tables:
        table["feature_group"] = table["feature_group"].cat.set_categories(categories)
    return pd.concat(tables)
