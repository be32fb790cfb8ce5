"""What figures read, by way of `get`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from .._keys import DiscKeys
from ..core.typing import Bools
from ..get._common import entry
from ._style import BACKGROUND, BACKGROUND_COLOR, colors_of

_OF_DISC = re.compile(r"score|feature_group|stability|(vector|spread)_\d+")


@dataclass(frozen=True, slots=True)
class Condition:
    """Results of one condition, of the features that took part."""

    name: str
    table: pd.DataFrame
    n_leading: int
    #: which of `adata.var` the rows of the table are
    part: Bools

    @property
    def n_vectors(self) -> int:
        """Number of vectors that were computed."""
        return int(self.table.columns.str.fullmatch(r"vector_\d+").sum())

    @property
    def groups(self) -> list[str]:
        """Feature groups in their order, without the background."""
        present = self.table["feature_group"].cat.remove_unused_categories().cat.categories
        return [str(g) for g in present if g != BACKGROUND]

    def ranked(self) -> pd.DataFrame:
        """Features from the highest score down."""
        return self.table.sort_values("score", ascending=False, kind="stable")


def described(adata: AnnData, key: str) -> Any:
    """Return what `tl.disc` says of its results as a whole."""
    return entry(adata, DiscKeys(key))


def conditions(adata: AnnData, group: str | None, key: str) -> list[Condition]:
    """Read one condition, or all of them."""
    found = described(adata, key)
    names = [str(g) for g in found["groups"]]
    leading = dict(zip(names, np.asarray(found["n_leading"]).tolist(), strict=True))
    wanted = names if group is None else [str(group)]
    tables = [get.disc(adata, group=name, key=key) for name in wanted]
    parts = [table["score"].notna().to_numpy() for table in tables]
    return [
        Condition(name, table.loc[part], int(leading[name]), part)
        for name, table, part in zip(wanted, tables, parts, strict=True)
    ]


def group_colors(adata: AnnData, key: str) -> dict[str, str]:
    """Colour of each feature group, the same in all figures; a condition's first group has its own."""
    groups = [c.groups for c in conditions(adata, None, key)]
    first = [names[0] if names else "" for names in groups]
    later = [name for names in groups for name in names[1:]]
    colors = colors_of([*first, *later])
    return {name: colors[name] for names in groups for name in names} | {BACKGROUND: BACKGROUND_COLOR}


def vector_count(n_vectors: int | None, condition: Condition) -> int:
    """Return how many vectors to draw, the leading ones unless told."""
    if n_vectors is None:
        # none may lead; the first is drawn all the same
        return min(max(1, condition.n_leading), condition.n_vectors)
    most = condition.n_vectors
    return validate.count("n_vectors", n_vectors, at_most=most, why=f"{most} were computed")


def feature_values(adata: AnnData, values: object, group: str | None, key: str) -> tuple[pd.Series[Any], str]:
    """Read one value a feature from a column of results, a column of `var` or an array; and name it."""
    if not isinstance(values, str):
        return numbers_or_categories(_one_for_each(adata, values)), ""
    in_var, of_disc = values in adata.var.columns, _OF_DISC.fullmatch(values) is not None
    if in_var and not (of_disc and group is not None):
        return numbers_or_categories(adata.var[values]), values
    if not of_disc:
        raise ValueError(
            f"values={values!r} is not a column of adata.var, nor one of dn.get.disc ('vector_1', 'score',"
            f" 'feature_group', …).{validate.nearest(values, [*adata.var.columns, 'score', 'feature_group'])}"
        )
    if group is None:
        names = [str(g) for g in described(adata, key)["groups"]]
        raise ValueError(f"values={values!r} differs between conditions; give group= one of {validate.quoted(names)}.")
    table = get.disc(adata, group=group, key=key)
    if values not in table.columns:
        raise ValueError(f"values={values!r} was not computed; there are {validate.quoted(table.columns[1:])}.")
    return numbers_or_categories(table[values]), f"{group}: {_label(values)}"


def _one_for_each(adata: AnnData, values: object) -> pd.Series[Any]:
    listed: Any = values.array if isinstance(values, pd.Series) else values
    if not isinstance(listed, pd.Categorical):
        listed = np.asarray(listed)
    if np.shape(listed) != (adata.n_vars,):
        raise ValueError(
            f"values has shape {np.shape(listed)}; give one value for each feature ({adata.n_vars}),"
            " or the name of a column of adata.var or of dn.get.disc."
        )
    return pd.Series(listed, index=adata.var_names)


def _label(column: str) -> str:
    return column.replace("_", " ")


def numbers_or_categories(series: pd.Series[Any]) -> pd.Series[Any]:
    """Read values as numbers where they are, as categories otherwise."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.remove_unused_categories()
    if pd.api.types.is_bool_dtype(series) or not pd.api.types.is_numeric_dtype(series):
        return series.astype("category")
    return series.astype(float)


def is_categorical(series: pd.Series[Any]) -> bool:
    """Whether values are names, not numbers."""
    return isinstance(series.dtype, pd.CategoricalDtype)


def colors_for(adata: AnnData, series: pd.Series[Any], key: str) -> dict[str, str]:
    """Colour of each category; feature groups keep theirs."""
    names = [str(c) for c in series.cat.categories]
    try:
        known = group_colors(adata, key)
    except KeyError:  # nothing was computed yet: any column of var can be drawn all the same
        known = {}
    if all(name in known for name in names):
        return {name: known[name] for name in names}
    return colors_of(names)
