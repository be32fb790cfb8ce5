"""Columns of `obs` that could hold conditions, samples or covariates, and what to mind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _candidates as candidates
from .. import _validate as validate
from .._anndata import MIN_OBS_PER_CONDITION
from ._docs import documented_reader

#: observations of a condition below which groups of features are found poorly (docs/validation/defaults.md)
MIN_OBS_FOR_GROUPS = 50


@documented_reader
def candidate_conditions(adata: AnnData) -> pd.DataFrame:
    """List the columns of `obs` that could be conditions, the likeliest first.

    Parameters
    ----------
    adata

    Returns
    -------
    One row per column of names or integers that repeat; columns `levels`, `smallest` and `largest`
    (observations of a level), `missing`, `usable` (two levels or more, each with at least 3 observations),
    `samples` (another column that likely holds the samples of these conditions, or an empty text), `nested`
    (whether each of those samples has one condition only) and `note`, what to mind.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.get.candidate_conditions(adata)[["levels", "smallest", "usable"]].to_dict("index")
    {'condition': {'levels': 2, 'smallest': 200, 'usable': True}}
    """
    obs = _named_once(adata)
    levels = {c: candidates.level_count(obs[c])[0] for c in obs.columns}
    # a single level is listed, too: the note says why it cannot be used
    wanted = [c for c, n in levels.items() if n == 1 or candidates.could_be_condition(n, len(obs))]
    rows = {str(c): _described(obs, c) for c in wanted}
    columns = ["levels", "smallest", "largest", "missing", "usable", "samples", "nested", "note"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    # few levels are likelier conditions; those that hold samples are likelier than the samples themselves
    rank = table.assign(hold=table["samples"] != "").sort_values(
        ["usable", "hold", "levels"], ascending=[False, False, True], kind="stable"
    )
    return table.loc[rank.index]


@documented_reader
def candidate_samples(adata: AnnData, *, groupby: str | None = None) -> pd.DataFrame:
    """List the columns of `obs` that could name samples (donors, subjects).

    Parameters
    ----------
    adata
    groupby
        Column of `adata.obs` with the conditions: adds what is likely, and puts it first.

    Returns
    -------
    One row per column with two values or more, of two observations or more on average; columns `levels`,
    `smallest` and `largest` (observations of a level) and, with `groupby`, `likely` and `nested` (whether each sample
    has one condition only). Likely samples have one condition each, or hold every condition and are called donor,
    patient, sample or the like.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.scrna(n_cells=120, n_genes=600)
    >>> "donor" in dn.get.candidate_samples(adata).index
    True
    >>> dn.get.candidate_samples(adata, groupby="condition")[["levels", "likely", "nested"]].to_dict("index")
    {'donor': {'levels': 6, 'likely': True, 'nested': True}}
    """
    obs = _named_once(adata)
    rows = {}
    for name in obs.columns:
        levels, _ = candidates.level_count(obs[name])
        if candidates.could_be_sample(levels, len(obs)):
            counts = np.bincount(_codes(obs[name]) + 1)[1:]
            rows[str(name)] = {"levels": len(counts), "smallest": counts.min(), "largest": counts.max()}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["levels", "smallest", "largest"])
    return table if groupby is None else _with_likely(table, obs, groupby)


def _with_likely(table: pd.DataFrame, obs: pd.DataFrame, groupby: str) -> pd.DataFrame:
    likely = dict(candidates.likely_samples(obs, groupby))
    order = [*likely, *(name for name in table.index if name not in likely and name != groupby)]
    found = table.loc[order]
    return found.assign(likely=found.index.isin(list(likely)), nested=[likely.get(n, False) for n in found.index])


@documented_reader
def candidate_covariates(adata: AnnData) -> pd.DataFrame:
    """List the columns of `obs` that could be covariates: numbers that vary, and categories with few levels.

    Parameters
    ----------
    adata

    Returns
    -------
    One row per column without missing values; column `levels`, 0 for numbers.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> adata.obs["depth"] = range(adata.n_obs)
    >>> dn.get.candidate_covariates(adata)["levels"].to_dict()
    {'condition': 2, 'depth': 0}
    """
    obs = _named_once(adata)
    rows = {}
    for name in obs.columns:
        column = obs[name]
        if not isinstance(name, str) or column.isna().any():
            continue
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            usable, levels = bool(np.isfinite(column).all()) and column.nunique() > 1, 0
        else:
            levels, _ = candidates.level_count(column)
            usable = candidates.could_be_condition(levels, len(obs))
        if usable:
            rows[name] = {"levels": levels}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["levels"])


def _named_once(adata: AnnData) -> pd.DataFrame:
    """Return `obs`; of columns with the same name, which no tool can be given, the first."""
    obs = validate.in_memory(adata.obs)
    return obs.loc[:, ~obs.columns.duplicated()]


def _codes(column: pd.Series[Any]) -> Any:
    return pd.factorize(column)[0]


def _described(obs: pd.DataFrame, name: Any) -> dict[str, Any]:
    codes = _codes(obs[name])
    counts = np.bincount(codes[codes >= 0])
    usable = len(counts) >= 2 and counts.min() >= MIN_OBS_PER_CONDITION
    likely = candidates.likely_samples(obs, name) if usable else []
    sample, nested = likely[0] if likely else ("", False)
    missing = int((codes < 0).sum())
    return {
        "levels": len(counts),
        "smallest": int(counts.min()),
        "largest": int(counts.max()),
        "missing": missing,
        "usable": bool(usable),
        "samples": sample,
        "nested": nested,
        "note": _note(counts, missing, sample, nested),
    }


def _note(counts: Any, missing: int, samples: str, nested: bool) -> str:
    notes = []
    if len(counts) < 2:
        notes.append("a single level: nothing to compare")
    elif counts.min() < MIN_OBS_PER_CONDITION:
        notes.append(
            f"a level has {counts.min()} observations, at least {MIN_OBS_PER_CONDITION} are needed: leave it out"
        )
    elif counts.min() < MIN_OBS_FOR_GROUPS:
        notes.append(f"few observations ({counts.min()} in the smallest level): groups of features may be poor")
    if missing:
        notes.append(f"{missing} observations have no value and are excluded")
    if samples and nested:
        notes.append(f"each {samples!r} has one condition: give sample_key={samples!r}, or p-values are too small")
    elif samples:
        notes.append(f"each {samples!r} has every condition: sample_key={samples!r} compares within it")
    return "; ".join(notes)
