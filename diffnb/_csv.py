"""Tables as CSV files that a spreadsheet opens as data, whatever their cells begin with."""

from __future__ import annotations

from typing import Any

import pandas as pd

#: beginnings by which a spreadsheet takes a cell for a formula
FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_csv(table: pd.DataFrame, /) -> str:
    """Write a table as CSV, with an apostrophe before texts that a spreadsheet would run as formulas.

    Numbers stay as they are, negative ones too. Spreadsheets show the apostrophe, or hide it; pandas reads it.
    """
    safe = pd.DataFrame({place: _column(table.iloc[:, place]) for place in range(table.shape[1])}, index=table.index)
    safe.index = pd.Index([_cell(name) for name in table.index], name=_cell(table.index.name))
    safe.columns = pd.Index([_cell(name) for name in table.columns])
    # with this end of line, cells that contain half of it are quoted
    return str(safe.to_csv(lineterminator="\r\n"))


def _column(column: pd.Series[Any]) -> pd.Series[Any]:
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    return column.astype(object).map(_cell)


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_BEGINNINGS) else value
