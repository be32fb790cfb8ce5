"""Tables of what `tl.sparda` and `tl.pda` found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._keys import SpardaKeys
from ._common import entry

MADE_BY = "tl.sparda(adata, groupby)"
NEEDS = ("pairs", "objective", "path", "share")


def sparda(adata: AnnData, *, group: str | None = None, key: str = "sparda") -> pd.DataFrame:
    """Read the weights of every feature.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
        A condition that was compared; all by default.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a feature (and comparison and projection), the largest weight in absolute value first; columns
    `group`, `reference`, `projection` (from 1), `weight`, `rank` (from 1) and `selected`. Features that took no
    part come last, with missing values.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=500, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10)
    >>> table = dn.get.sparda(adata)
    >>> table.columns.tolist()
    ['group', 'reference', 'projection', 'weight', 'rank', 'selected']
    >>> int(adata.var.loc[table.index[table["selected"]], "truth"].sum())
    10
    """
    found = entry(adata, key, MADE_BY, NEEDS)
    weights = np.asarray(adata.varm[SpardaKeys(key).varm], dtype=float)
    tables = []
    for column, ours, theirs, projection in _comparisons(found, group):
        table = pd.DataFrame({"weight": weights[:, column]}, index=adata.var_names)
        size = table["weight"].abs().to_numpy()
        order = np.argsort(-size, kind="stable")  # missing ones go last
        table = table.iloc[order]
        rank = pd.array(np.arange(1, len(order) + 1), dtype="Int64")
        rank[np.isnan(size[order])] = pd.NA
        table["rank"] = rank
        table["selected"] = size[order] > 0
        table.insert(0, "group", ours)
        table.insert(1, "reference", theirs)
        table.insert(2, "projection", projection)
        tables.append(table)
    return pd.concat(tables) if len(tables) > 1 else tables[0]


def sparda_summary(adata: AnnData, *, key: str = "sparda") -> pd.DataFrame:
    """Read how much the populations differ along each projection, by how many features, and how surely.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a comparison and projection; columns `group`, `reference`, `projection` (from 1), `objective` (the
    divergence), `share` (of the objectives of all projections of the comparison), `n_features`, `pval` and
    `certificate` (upper bound of the objective over the objective); the last two NaN where not asked for.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10, n_permutations=19)
    >>> dn.get.sparda_summary(adata)[["group", "reference", "n_features", "pval"]].values.tolist()
    [['B', 'A', 10, 0.05]]
    """
    found = entry(adata, key, MADE_BY, NEEDS)
    rows = list(_comparisons(found, None))

    def flat(name: str) -> Any:
        return np.asarray(found[name]).ravel() if name in found else np.nan

    return pd.DataFrame(
        {
            "group": [row[1] for row in rows],
            "reference": [row[2] for row in rows],
            "projection": [row[3] for row in rows],
            **{name: flat(name) for name in ("objective", "share", "n_features", "pval", "certificate")},
        }
    )


def sparda_path(adata: AnnData, *, key: str = "sparda") -> pd.DataFrame:
    """Read the divergence for every number of features.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    key
        The `key_added` of the call.

    Returns
    -------
    One row a number of features `k` (and comparison and projection); columns `group`, `reference`,
    `projection`, `k`, `objective`, `held_out` and `held_out_sd` (mean and standard deviation of the divergence
    between held-out observations over folds; NaN where the number was given) and `chosen`.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=500, n_features=60)
    >>> dn.tl.sparda(adata, "condition")
    >>> path = dn.get.sparda_path(adata)
    >>> path.loc[path["chosen"], "k"].tolist()
    [10]
    """
    found = entry(adata, key, MADE_BY, NEEDS)["path"]
    k = np.asarray(found["k"])
    curves = {name: np.asarray(found[name]).reshape(-1, len(k)) for name in ("objective", "held_out", "held_out_sd")}
    chosen = np.asarray(found["chosen"]).ravel()
    tables = []
    for column, ours, theirs, projection in _comparisons(entry(adata, key, MADE_BY, NEEDS), None):
        table = pd.DataFrame({"group": ours, "reference": theirs, "projection": projection, "k": k})
        for name, values in curves.items():
            table[name] = values[column]
        table["chosen"] = k == chosen[column]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def sparda_projection(
    adata: AnnData, *, group: str | None = None, projection: int = 1, key: str = "sparda"
) -> pd.DataFrame:
    """Read where every observation lies along a projection.

    Parameters
    ----------
    adata
        Annotated data after :func:`diffnb.tl.sparda` or :func:`diffnb.tl.pda`.
    group
        A condition that was compared; all by default.
    projection
        Which of its projections, from 1.
    key
        The `key_added` of the call.

    Returns
    -------
    One row an observation (and comparison), in the order of `adata.obs_names`; columns `value`, `condition`
    and `side`: `"group"`, `"reference"`, or missing for an observation of neither. With several comparisons,
    `group` and `reference` name them.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.nuisance_factor(n_obs=200, n_features=60)
    >>> dn.tl.sparda(adata, "condition", n_features=10)
    >>> dn.get.sparda_projection(adata)["side"].value_counts(sort=False).to_dict()
    {'group': 200, 'reference': 200}
    """
    found = entry(adata, key, MADE_BY, NEEDS)
    n_projections = np.asarray(found["objective"]).shape[1]
    validate.count("projection", projection, at_most=n_projections, why=f"{n_projections} found")
    conditions = validate.conditions(adata, str(found["params"]["groupby"]))
    names = np.asarray(conditions.astype(object))
    values = np.asarray(adata.obsm[SpardaKeys(key).obsm])
    against_rest = np.asarray(found["pairs"]["against_rest"])
    wanted = [row for row in _comparisons(found, group) if row[3] == projection]
    tables = []
    for column, ours, theirs, _ in wanted:
        rest = bool(against_rest[column // n_projections])
        reference = ~pd.isna(names) & (names != ours) if rest else names == theirs
        codes = np.where(names == ours, 0, np.where(reference, 1, -1))
        table = pd.DataFrame(
            {
                "value": values[:, column],
                "condition": conditions,
                "side": pd.Categorical.from_codes(codes, ["group", "reference"]),
            },
            index=adata.obs_names,
        )
        if len(wanted) > 1:
            table.insert(0, "group", ours)
            table.insert(1, "reference", theirs)
        tables.append(table)
    return pd.concat(tables) if len(tables) > 1 else tables[0]


def _comparisons(found: Any, group: object) -> list[tuple[int, str, str, int]]:
    """Column, group, reference and number of every projection; of one group where it is named."""
    pairs = found["pairs"]
    groups, references = [str(g) for g in pairs["group"]], [str(r) for r in pairs["reference"]]
    if group is not None and str(group) not in groups:
        raise ValueError(
            f"group={group!r} was not compared; there are {validate.quoted(dict.fromkeys(groups))}."
            f"{validate.nearest(group, groups)}"
        )
    each = np.asarray(found["objective"]).shape[1]
    return [
        (i * each + r, ours, theirs, r + 1)
        for i, (ours, theirs) in enumerate(zip(groups, references, strict=True))
        if group in (None, ours) or str(group) == ours
        for r in range(each)
    ]
