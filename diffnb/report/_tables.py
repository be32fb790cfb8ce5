"""Tables of a report: the cells as JSON, which a script of the page sorts, filters and shows."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd

#: rows of a table that are in the page
MAX_ROWS = 20_000
#: digits of a number that are in the page
N_DIGITS = 4


def cells_of(table: pd.DataFrame) -> tuple[dict[str, Any], int]:
    """Return names of columns, their cells, and how many rows there are in all."""
    name = "feature" if table.index.name is None else str(table.index.name)
    index = [] if isinstance(table.index, pd.RangeIndex) else [(name, table.index.to_series())]
    columns = [*index, *((str(c), table.iloc[:, i]) for i, c in enumerate(table.columns))]
    shown = {
        "columns": [{"name": name, "number": _is_number(values)} for name, values in columns],
        "cells": [_cells(values.iloc[:MAX_ROWS]) for _, values in columns],
    }
    return shown, len(table)


def as_json(value: Any) -> str:
    """Return JSON that cannot end the element of the page that holds it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _is_number(values: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values))


def _cells(values: pd.Series[Any]) -> list[Any]:
    if pd.api.types.is_bool_dtype(values):
        return ["yes" if v else "no" for v in values]
    if _is_number(values):
        return [_rounded(v) for v in values.to_numpy(dtype=float, na_value=np.nan)]
    return ["" if pd.isna(v) else str(v) for v in values]


def _rounded(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e9 else float(f"{value:.{N_DIGITS}g}")
