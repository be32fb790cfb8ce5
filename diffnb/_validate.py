"""Checks of arguments, with errors that say what was given and what would do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd


def nearest(word: object, candidates: Iterable[object]) -> str:
    """Give a closing sentence that names the candidate nearest to `word`, or nothing."""
    close = difflib.get_close_matches(str(word), [str(c) for c in candidates], n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


def quoted(values: Iterable[object], limit: int = 12) -> str:
    """List values for a message, cut where the list grows past what one reads."""
    shown = [repr(v) if isinstance(v, str) else str(v) for v in values]
    return ", ".join(shown[:limit]) + (f", … ({len(shown)} in all)" if len(shown) > limit else "")


def choice(name: str, value: object, options: Sequence[str]) -> None:
    """Refuse a word that is not among `options`."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name}={value!r} is not an option; use one of {quoted(options)}.{nearest(value, options)}")


def count(name: str, value: object, *, at_least: int = 1, at_most: int | None = None, why: str = "") -> int:
    """Refuse what is not a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} must be a whole number, got {type(value).__name__}.")
    number = int(value)
    if number < at_least or (at_most is not None and number > at_most):
        bounds = f"at least {at_least}" if at_most is None else f"between {at_least} and {at_most}"
        raise ValueError(f"{name}={value!r} must be {bounds}{f' ({why})' if why else ''}.")
    return number


def _could_be_conditions(obs: pd.DataFrame) -> list[str]:
    described = []
    for column in obs.columns:
        levels = obs[column].nunique()
        discrete = not pd.api.types.is_float_dtype(obs[column])
        if discrete and 2 <= levels <= min(50, max(2, len(obs) // 3)):
            described.append((str(column), levels))
    return [f"{name!r} ({levels} levels)" for name, levels in sorted(described, key=lambda item: item[1])]


def tables_in_memory(adata: Any) -> None:
    """Read the tables of a lazily read AnnData: they are small, and pandas' alone can be worked with."""
    for name in ("obs", "var"):
        table = getattr(adata, name)
        if not isinstance(table, pd.DataFrame):
            setattr(adata, name, in_memory(table))


def in_memory(table: Any) -> pd.DataFrame:
    """Return a table of an AnnData as pandas has it, read where it was not."""
    return table if isinstance(table, pd.DataFrame) else table.to_memory()


def obs_column(adata: Any, name: str, key: object) -> pd.Series[Any]:
    """Return `adata.obs[key]`, or explain which columns could be meant."""
    tables_in_memory(adata)
    if not isinstance(key, str) or key not in adata.obs.columns:
        candidates = _could_be_conditions(adata.obs)
        listed = f" Columns that could be conditions: {', '.join(candidates[:8])}." if candidates else ""
        raise ValueError(f"{name}={key!r} is not a column of adata.obs.{listed}{nearest(key, adata.obs.columns)}")
    return adata.obs[key]


def conditions(adata: Any, groupby: object) -> pd.Categorical:
    """Read `adata.obs[groupby]` as categories; a measured number is refused."""
    column = obs_column(adata, "groupby", groupby)
    if pd.api.types.is_float_dtype(column) and not _whole(column):
        candidates = _could_be_conditions(adata.obs)
        listed = f" Columns that could be conditions: {', '.join(candidates[:8])}." if candidates else ""
        raise ValueError(
            f"groupby={groupby!r} holds {column.nunique()} different decimal numbers, not conditions;"
            f" bin it into categories first, for example with pandas.cut.{listed}"
        )
    if not isinstance(column.dtype, pd.CategoricalDtype):
        distinct = column.nunique()
        if (
            pd.api.types.is_numeric_dtype(column)
            and not pd.api.types.is_bool_dtype(column)
            and distinct > max(20, len(column) // 10)
        ):
            raise ValueError(
                f"groupby={groupby!r} holds {distinct} different numbers for {len(column)} observations:"
                " that is a measurement, not conditions; bin it into categories first, for example with pandas.cut."
            )
        column = column.astype("category")
    categories = pd.Categorical(column).remove_unused_categories()
    return categories.rename_categories([_level_name(c) for c in categories.categories])


def _whole(column: pd.Series[Any]) -> bool:
    values = column.dropna().to_numpy()
    return bool(np.all(values == np.round(values)))


def _level_name(level: object) -> str:
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)


def chosen_groups(categories: pd.Categorical, groupby: object, groups: Sequence[object] | None) -> list[str]:
    """Return the conditions to compare, all of them when `groups` is `None`."""
    present = [str(c) for c in categories.categories]
    if groups is None:
        chosen = present
    else:
        if isinstance(groups, str):
            raise TypeError(f"groups={groups!r} must be a list of categories, for example groups=[{groups!r}, …].")
        chosen = [_level_name(g) for g in groups]
        for group in chosen:
            if group not in present:
                raise ValueError(
                    f"groups names {group!r}, which is not a category of adata.obs[{groupby!r}]"
                    f" ({quoted(present)}).{nearest(group, present)}"
                )
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"groups={list(groups)!r} names a category twice.")
    if len(chosen) < 2:
        raise ValueError(
            f"groupby={groupby!r} leaves a single condition ({quoted(chosen)}): at least two are needed to differ."
        )
    return chosen
