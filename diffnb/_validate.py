"""Checks of arguments, with errors that name what was given and what to give instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from . import _candidates as candidates
from . import _logging as log
from .core.runtime import budget

T = TypeVar("T")
AUTO: Literal["auto"] = "auto"
#: seeds that NumPy, SciPy and scikit-learn all take, and that h5ad and zarr keep as they are
MAX_SEED = 2**32 - 1
#: threads beyond which no machine gains anything
MAX_JOBS = 1024
#: permutations, bootstraps, steps: a million p-values resolve one in a million
MAX_REPEATS = 1_000_000
#: conditions of one call; some methods compare all pairs of them, and all fit each
MAX_CONDITIONS = 200


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


def seed(value: object) -> int:
    """Read `random_state`: an integer, since a generator changes with every use and could not be kept with results."""
    if isinstance(value, np.random.Generator | np.random.RandomState | np.random.SeedSequence) or value is None:
        shown = "None" if value is None else f"a {type(value).__name__}"
        raise TypeError(
            f"random_state must be an integer, got {shown}: the same call has to give the same answer, and is kept with"
            " the results. Give a number, for example int(np.random.default_rng().integers(2**32))."
        )
    return count("random_state", value, at_least=0, at_most=MAX_SEED, why="a seed has 32 bits")


def jobs(value: object) -> int | None:
    """Read `n_jobs`: a number of threads, negative numbers counted back from all cores, or `None`."""
    if value is None:
        return None
    number = count("n_jobs", value, at_least=-MAX_JOBS, at_most=MAX_JOBS, why="-1 is all cores")
    if number == 0:
        raise ValueError("n_jobs=0 would do nothing; use 1, or -1 for all cores.")
    return number


def repeats(name: str, value: object, *, at_least: int = 0) -> int:
    """Read how often something is repeated, such as the number of permutations."""
    number = count(name, value, at_least=at_least)
    if number > MAX_REPEATS:
        raise ValueError(
            f"{name}={value!r} is more than {MAX_REPEATS:,}, which would take days on small data. Permutations resolve"
            " p-values down to 1 / (number + 1): 999 are enough for most questions, 9,999 for a p-value of 0.0001."
        )
    return number


def flags(**values: object) -> None:
    """Refuse what is not a boolean where one is expected: the text "no" would count as true."""
    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name}={value!r} must be True or False, got {type(value).__name__}.")


def positive(name: str, value: object, *, zero: bool = False) -> float:
    """Refuse what is not a finite number above 0 (or 0, with `zero`)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a number, got {type(value).__name__}.")
    number = float(value)
    if not np.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise ValueError(f"{name}={value!r} must be {'0 or larger' if zero else 'larger than 0'}.")
    return number


def memory(n_bytes: int, what: str, remedy: str) -> None:
    """Refuse work whose arrays alone need more memory than this machine has, before it begins."""
    present = budget.machine_bytes()
    if present is not None and n_bytes > present:
        raise MemoryError(
            f"{what} needs about {n_bytes / 1e9:,.0f} GB, and this machine has {present / 1e9:,.0f} GB. {remedy}"
        )


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


def layer_names(adata: Any, /) -> list[str]:
    """Return the names of the layers; from anndata 0.13 on, X is a layer, too, which has none."""
    return [name for name in adata.layers if name is not None]


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
    _refuse_no_labels(column, groupby)
    if candidates.is_measured(column):
        kind = "decimal numbers" if candidates.has_fractions(column) else "numbers"
        raise ValueError(
            f"groupby={groupby!r} holds {column.nunique()} different {kind} for {len(column)} observations:"
            " a measurement, not conditions; bin it into categories first, for example with pandas.cut."
            f"{_suggested(adata.obs)}"
        )
    categories = pd.Categorical(column).remove_unused_categories()
    names = [_level_name(c) for c in categories.categories]
    if len(set(names)) < len(names):
        alike = next(name for name in names if names.count(name) > 1)
        shown = " and ".join(repr(c) for c in categories.categories if _level_name(c) == alike)
        raise ValueError(
            f"groupby={groupby!r} has labels that read alike, {shown}: are they one condition? If so,"
            f" adata.obs[{groupby!r}] = adata.obs[{groupby!r}].astype(str); else rename one of them."
        )
    return categories.rename_categories(names)


def _refuse_no_labels(column: pd.Series[Any], groupby: object) -> None:
    """Refuse values that cannot be labels, such as lists and complex numbers, and columns without any."""
    present = column.dropna()
    if column.size and not present.size:
        raise ValueError(f"groupby={groupby!r} is missing for all {column.size} observations.")
    kinds = {type(value) for value in present} if column.dtype == object else set()
    strange = [k.__name__ for k in kinds if k.__hash__ is None or issubclass(k, complex | tuple | frozenset)]
    if strange or column.dtype.kind == "c":
        raise TypeError(
            f"groupby={groupby!r} holds values of type {', '.join(sorted(strange)) or column.dtype.name}, which cannot"
            " be labels; give every observation one text, number or boolean."
        )


def _level_name(level: object) -> str:
    return str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)


def chosen_groups(categories: pd.Categorical, groupby: object, groups: Sequence[object] | None) -> list[str]:
    """Return the conditions to compare, all of them when `groups` is `None`."""
    present = [str(c) for c in categories.categories]
    if groups is None:
        chosen = present
    else:
        if isinstance(groups, str) or not isinstance(groups, Iterable):
            raise TypeError(f"groups={groups!r} must be a list of categories, for example groups=[{groups!r}, …].")
        if isinstance(groups, AbstractSet):
            raise TypeError(f"groups={groups!r} is a set, which has no order; give a list.")
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
    if len(chosen) > MAX_CONDITIONS:
        raise ValueError(
            f"groupby={groupby!r} has {len(chosen):,} conditions; at most {MAX_CONDITIONS} can be compared in one call."
            " Choose some with groups=[…], or name a column with fewer categories: one for each observation names"
            " samples, not conditions."
        )
    return chosen
