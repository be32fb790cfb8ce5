"""Columns of `obs` that could hold conditions, and what speaks against each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .._anndata import MIN_OBS_PER_CONDITION

#: observations of a condition below which groups of features are found poorly (docs/validation/defaults.md)
FEW = 50
#: levels beyond which a column names things rather than conditions
MANY = 50


def candidate_conditions(adata: AnnData) -> pd.DataFrame:
    """List the columns of `obs` that could be conditions, the likeliest first.

    Parameters
    ----------
    adata
        Annotated data.

    Returns
    -------
    One row a column of names or whole numbers that repeat; columns `levels`, `smallest` and `largest`
    (observations of a level), `missing`, `usable` (two levels or more, each with at least 3 observations),
    `samples` (another column whose values look like samples of these conditions, or an empty text), `nested`
    (whether each of those samples has one condition only) and `note`, which says what to mind.

    Examples
    --------
    >>> import diffnb as dn
    >>> adata = dn.datasets.newly_connected(n_obs=200)
    >>> dn.get.candidate_conditions(adata)[["levels", "smallest", "usable"]].to_dict("index")
    {'condition': {'levels': 2, 'smallest': 200, 'usable': True}}
    """
    obs = validate.in_memory(adata.obs)
    names = [c for c in obs.columns if _repeats(obs[c])]
    coded = {c: pd.factorize(obs[c])[0] for c in names}
    rows = {str(c): _described(c, coded) for c in names if coded[c].max(initial=-1) < MANY}
    columns = ["levels", "smallest", "largest", "missing", "usable", "samples", "nested", "note"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    # few levels are likelier conditions; those that hold samples are likelier than the samples themselves
    rank = table.assign(hold=table["samples"] != "").sort_values(
        ["usable", "hold", "levels"], ascending=[False, False, True], kind="stable"
    )
    return table.loc[rank.index]


def _repeats(column: pd.Series[Any]) -> bool:
    """Whether a column holds names or whole numbers, each more than once as a rule."""
    if pd.api.types.is_float_dtype(column):
        values = column.dropna().to_numpy()
        if not np.all(values == np.round(values)):
            return False
    levels = column.nunique()
    return bool(1 <= levels <= max(2, len(column) // 2))


def _described(name: Any, coded: dict[Any, Any]) -> dict[str, Any]:
    codes = coded[name]
    counts = np.bincount(codes[codes >= 0]) if (codes >= 0).any() else np.zeros(1, dtype=int)
    usable = len(counts) >= 2 and counts.min() >= MIN_OBS_PER_CONDITION
    samples, nested = _samples(name, coded) if usable else ("", False)
    missing = int((codes < 0).sum())
    return {
        "levels": len(counts),
        "smallest": int(counts.min()),
        "largest": int(counts.max()),
        "missing": missing,
        "usable": bool(usable),
        "samples": samples,
        "nested": nested,
        "note": _note(counts, missing, samples, nested),
    }


def _samples(name: Any, coded: dict[Any, Any]) -> tuple[str, bool]:
    """Find a column whose values each lie in one condition, or each in all of them."""
    conditions = coded[name]
    n_conditions = conditions.max() + 1
    for other, codes in coded.items():
        both = (codes >= 0) & (conditions >= 0)
        n_samples = codes.max(initial=-1) + 1
        if other == name or n_samples < 3 or not both.any():
            continue
        table = np.zeros((n_samples, n_conditions), dtype=int)
        np.add.at(table, (codes[both], conditions[both]), 1)
        held = (table > 0).sum(axis=1)
        if (held <= 1).all() and n_samples > n_conditions and (table > 0).sum(axis=0).min() >= 2:
            return str(other), True
        if (held == n_conditions).all() and table.min() >= MIN_OBS_PER_CONDITION and n_samples > n_conditions:
            return str(other), False
    return "", False


def _note(counts: Any, missing: int, samples: str, nested: bool) -> str:
    said = []
    if len(counts) < 2:
        said.append("a single level: nothing to compare")
    elif counts.min() < MIN_OBS_PER_CONDITION:
        said.append(
            f"a level has {counts.min()} observations, at least {MIN_OBS_PER_CONDITION} are needed: leave it out"
        )
    elif counts.min() < FEW:
        said.append(f"few observations ({counts.min()} in the smallest level): groups of features may be poor")
    if missing:
        said.append(f"{missing} observations have no value and take no part")
    if samples and nested:
        said.append(f"each {samples!r} has one condition: give sample_key={samples!r}, or p-values are too small")
    elif samples:
        said.append(f"each {samples!r} has every condition: sample_key={samples!r} compares within it")
    return "; ".join(said)
