"""Tables of what `tl.disc` found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .._keys import DiscKeys, counted
from ._common import entry, known_group, labelled, named, slot, stacked
from ._docs import documented_reader


@documented_reader
def disc(adata: AnnData, *, group: str | None = None, key: str = "disc") -> pd.DataFrame:
    """Read the differential vectors and groups of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    group
    key

    Returns
    -------
    One row per feature (and condition), in the order of `adata.var_names`; columns `group` (the condition),
    `vector_1` …, `score`, `feature_group`, and, where they were computed, `subgroup` (for groups that have parts),
    `membership` (1 − the local false discovery rate of belonging to a group), `stability` and `spread_1` ….
    Excluded features are missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=500)
    >>> dn.tl.disc(adata, "condition", n_components=4)
    >>> dn.get.disc(adata, group="B").columns.tolist()
    ['group', 'vector_1', 'vector_2', 'vector_3', 'vector_4', 'score', 'feature_group', 'membership']
    """
    keys = DiscKeys(key)
    found = entry(adata, keys)
    groups = [str(g) for g in found["groups"]]
    known_group("group", group, groups)
    feature_groups = dict(zip(groups, found["group_columns"], strict=True))
    nested = dict(zip(groups, keys.nested_groups(groups), strict=True))
    tables = []
    for name in groups if group is None else [str(group)]:
        table = _values(adata, keys, name)
        labels = slot(adata, keys, "var", str(feature_groups[name])).astype("category")
        table.insert(table.columns.get_loc("score") + 1, "feature_group", labels.array)
        if nested.get(name) in found.get("nested_columns", ()):
            subgroups = slot(adata, keys, "var", nested[name]).astype(str)
            table.insert(table.columns.get_loc("feature_group") + 1, "subgroup", subgroups.array)
        tables.append(labelled(table, group=name))
    return _stacked(tables)


def vectors(adata: AnnData, *, key: str = "disc") -> dict[str, pd.DataFrame]:
    """Return the differential vectors of each condition, features × vectors."""
    keys = DiscKeys(key)
    found = entry(adata, keys)
    names = counted("vector", np.asarray(found["sigma"]).shape[1])
    return {str(group): _values(adata, keys, str(group))[names] for group in found["groups"]}


def _values(adata: AnnData, keys: DiscKeys, group: str) -> pd.DataFrame:
    """Read the stored columns of one condition."""
    found = entry(adata, keys)
    columns = keys.columns(
        [str(g) for g in found["groups"]],
        np.asarray(found["sigma"]).shape[1],
        stability=bool(found["has_stability"]),
        spread=bool(found["has_spread"]),
        # absent from results of earlier versions
        membership=bool(found.get("has_membership", False)),
    )
    return named(adata, keys, columns[group])


@documented_reader
def disc_significance(adata: AnnData, *, key: str = "disc") -> pd.DataFrame:
    """Read the singular values σ and their p-values.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.disc`.
    key

    Returns
    -------
    One row per condition and component; columns `group`, `component` (from 1), `sigma`, `pval`, and for the
    tested statistic `sigma_tested`, `null_median` and `null_95` (median and 95 % quantile over permutations);
    NaN where nothing was tested. Under `null="connectivity"` the tested σ is that of data standardised
    within conditions; where samples were analysed separately it is how well they agree, 1 at most.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.tl.disc(adata, "condition", n_permutations=19)
    >>> dn.get.disc_significance(adata).query("component == 1")["pval"].tolist()
    [0.05, 0.05]
    """
    found = entry(adata, DiscKeys(key))
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


def _stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    # categories differ between conditions; concat would turn the column to objects
    categories = list(dict.fromkeys(c for t in tables for c in t["feature_group"].cat.categories))
    if len(tables) > 1:
        for table in tables:
            table["feature_group"] = table["feature_group"].cat.set_categories(categories)
    return stacked(tables)
