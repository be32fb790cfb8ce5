"""Values and colours of features, as several figures read them through `get`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import _validate as validate
from .. import get
from .._keys import BACKGROUND_GROUP
from ..get._conditions import DiscCondition, compared_conditions, disc_conditions
from ._style import BACKGROUND_COLOR, colors_of

_DISC_COLUMN = re.compile(r"score|feature_group|membership|stability|(vector|spread)_\d+")


def group_colors(adata: AnnData, key: str) -> dict[str, str]:
    """Colour of each feature group, the same in all figures; the first groups of all conditions come first."""
    groups = [c.groups for c in disc_conditions(adata, None, key)]
    first = [names[0] if names else "" for names in groups]
    later = [name for names in groups for name in names[1:]]
    colors = colors_of([*first, *later])
    return {name: colors[name] for names in groups for name in names} | {BACKGROUND_GROUP: BACKGROUND_COLOR}


def vector_count(n_vectors: int | None, condition: DiscCondition) -> int:
    """Return how many vectors to draw, by default the leading ones."""
    if n_vectors is None:
        # where no vector leads, the first is drawn all the same
        return min(max(1, condition.n_leading), condition.n_vectors)
    most = condition.n_vectors
    return validate.count("n_vectors", n_vectors, at_most=most, why=f"{most} were computed")


def feature_values(adata: AnnData, values: object, group: str | None, key: str) -> tuple[pd.Series[Any], str]:
    """Read one value per feature from a column of results, a column of `var` or an array, and its title."""
    if not isinstance(values, str):
        return numbers_or_categories(_as_series(adata, values)), ""
    in_var, of_disc = values in adata.var.columns, _DISC_COLUMN.fullmatch(values) is not None
    if in_var and not (of_disc and group is not None):
        return numbers_or_categories(adata.var[values]), values
    if not of_disc:
        raise ValueError(
            f"values={values!r} is not a column of adata.var, nor one of dn.get.disc ('vector_1', 'score',"
            f" 'feature_group', …).{validate.nearest(values, [*adata.var.columns, 'score', 'feature_group'])}"
        )
    if group is None:
        names = compared_conditions(adata, key)
        raise ValueError(f"values={values!r} differs between conditions; give group= one of {validate.quoted(names)}.")
    table = get.disc(adata, group=group, key=key)
    if values not in table.columns:
        raise ValueError(f"values={values!r} was not computed; there are {validate.quoted(table.columns[1:])}.")
    return numbers_or_categories(table[values]), f"{group}: {spaced(values)}"


def _as_series(adata: AnnData, values: object) -> pd.Series[Any]:
    listed: Any = values.array if isinstance(values, pd.Series) else values
    if not isinstance(listed, pd.Categorical):
        listed = np.asarray(listed)
    if np.shape(listed) != (adata.n_vars,):
        raise ValueError(
            f"values has shape {np.shape(listed)}; give one value for each feature ({adata.n_vars}),"
            " or the name of a column of adata.var or of dn.get.disc."
        )
    return pd.Series(listed, index=adata.var_names)


def spaced(column: str) -> str:
    """Turn the name of a column into a label."""
    return column.replace("_", " ")


def numbers_or_categories(series: pd.Series[Any]) -> pd.Series[Any]:
    """Convert numeric values to floats and all others to categories."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return series.cat.remove_unused_categories()
    if pd.api.types.is_bool_dtype(series) or not pd.api.types.is_numeric_dtype(series):
        return series.astype("category")
    return series.astype(float)


def is_categorical(series: pd.Series[Any]) -> bool:
    """Whether values are categories."""
    return isinstance(series.dtype, pd.CategoricalDtype)


def colors_for(adata: AnnData, series: pd.Series[Any], key: str) -> dict[str, str]:
    """Colour of each category; feature groups have the same colours as in all other figures."""
    names = [str(c) for c in series.cat.categories]
    try:
        known = group_colors(adata, key)
    except KeyError:  # without results, columns of var can still be drawn
        known = {}
    if all(name in known for name in names):
        return {name: known[name] for name in names}
    return colors_of(names)
