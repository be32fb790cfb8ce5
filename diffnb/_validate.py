"""Checks of arguments, with errors that name what was given and what to give instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from . import _candidates as candidates
from . import _logging as log

T = TypeVar("T")
AUTO: Literal["auto"] = "auto"


def nearest(word: object, options: Iterable[object]) -> str:
    """Return a closing sentence that names the option nearest to `word`, or nothing."""
    close = difflib.get_close_matches(str(word), [str(o) for o in options], n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


def quoted(values: Iterable[object], limit: int = 12) -> str:
    """List values for a message, at most `limit` of them."""
    shown = [repr(v) if isinstance(v, str) else str(v) for v in values]
    return ", ".join(shown[:limit]) + (f", … ({len(shown)} in all)" if len(shown) > limit else "")


def choice(name: str, value: object, options: Sequence[str]) -> None:
    """Refuse a word that is not among `options`."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name}={value!r} is not an option; use one of {quoted(options)}.{nearest(value, options)}")


def count(name: str, value: object, *, at_least: int = 1, at_most: int | None = None, why: str = "") -> int:
    """Refuse what is not an integer within bounds."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} must be an integer, got {type(value).__name__}.")
    number = int(value)
    if number < at_least or (at_most is not None and number > at_most):
        bounds = f"at least {at_least}" if at_most is None else f"between {at_least} and {at_most}"
        raise ValueError(f"{name}={value!r} must be {bounds}{f' ({why})' if why else ''}.")
    return number


def auto_count(name: str, value: object, *, at_least: int = 1, at_most: int | None = None, why: str = "") -> int | None:
    """Read a number, or `"auto"` as `None`."""
    if isinstance(value, str):
        choice(name, value, (AUTO,))
        return None
    return count(name, value, at_least=at_least, at_most=at_most, why=why)


def positive(name: str, value: object, *, zero: bool = False) -> float:
    """Refuse what is not a finite number above 0 (or 0, where `zero` says so)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a number, got {type(value).__name__}.")
    number = float(value)
    if not np.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise ValueError(f"{name}={value!r} must be {'0 or larger' if zero else 'larger than 0'}.")
    return number


def not_none(name: str, value: T | None, instead: T) -> T:
    """Read `None`, which once meant "choose", as the word that now does."""
    if value is not None:
        return value
    log.warn(f"{name}=None is deprecated; use {name}={instead!r}.", DeprecationWarning)
    return instead


def tables_in_memory(adata: Any) -> None:
    """Read the tables of a lazily read AnnData: they are small, and only pandas tables can be worked with."""
    for name in ("obs", "var"):
        table = getattr(adata, name)
        if not isinstance(table, pd.DataFrame):
            setattr(adata, name, in_memory(table))


def in_memory(table: Any) -> pd.DataFrame:
    """Return a table of an AnnData as a pandas table, read if it was lazy."""
    return table if isinstance(table, pd.DataFrame) else table.to_memory()


def obs_column(adata: Any, name: str, key: object) -> pd.Series[Any]:
    """Return `adata.obs[key]`, or explain which columns could be meant."""
    tables_in_memory(adata)
    if not isinstance(key, str) or key not in adata.obs.columns:
        raise ValueError(
            f"{name}={key!r} is not a column of adata.obs.{_suggested(adata.obs)}{nearest(key, adata.obs.columns)}"
        )
    return adata.obs[key]


def _suggested(obs: pd.DataFrame) -> str:
    """Return a sentence that lists the columns that could be conditions, or nothing."""
    found = [f"{name!r} ({levels} levels)" for name, levels, _ in candidates.condition_columns(obs)]
    return f" Columns that could be conditions: {', '.join(found[:8])}." if found else ""


def conditions(adata: Any, groupby: object) -> pd.Categorical:
    """Read `adata.obs[groupby]` as categories; measurements are refused."""
    column = obs_column(adata, "groupby", groupby)
    if candidates.is_measured(column):
        kind = "decimal numbers" if candidates.has_fractions(column) else "numbers"
        raise ValueError(
            f"groupby={groupby!r} holds {column.nunique()} different {kind} for {len(column)} observations:"
            " a measurement, not conditions; bin it into categories first, for example with pandas.cut."
            f"{_suggested(adata.obs)}"
        )
    categories = pd.Categorical(column).remove_unused_categories()
    return categories.rename_categories([_level_name(c) for c in categories.categories])


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
        raise ValueError(f"groupby={groupby!r} leaves a single condition ({quoted(chosen)}): at least two are needed.")
    return chosen
