"""Correlations of all pairs of features, side by side for the conditions, linked with other views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import pandas as pd
import traitlets as t

from ..core.typing import Floats
from ..pl._style import diverging
from ._feature_map import N_COLOR_LEVELS, NO_VALUE
from ._marks import packed, unpacked
from ._modules import STATIC, esm

#: the scale of colours ends at a multiple of this
STEP_OF_SCALE = 0.1
#: share of the pairs whose correlation is within the scale
SHARE_IN_SCALE = 0.99


class PairMap(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """A square per condition: a colour per pair of features, and its numbers on request."""

    _esm = esm("pair_map/pair_map.js")
    _css = STATIC / "pair_map" / "pair_map.css"

    codes = t.Bytes(b"").tag(sync=True)
    size = t.Int(0).tag(sync=True)
    titles: Any = t.List().tag(sync=True)
    colors = t.Bytes(b"").tag(sync=True)
    low, high = t.Float(-1.0).tag(sync=True), t.Float(1.0).tag(sync=True)
    #: what is written where there is nothing to show
    empty = t.Unicode("").tag(sync=True)
    selection = t.Bytes(b"").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._names: list[str] = []
        self._values: list[Floats] = []
        self.on_msg(self._on_message)

    def show(self, tables: Sequence[pd.DataFrame], titles: Sequence[str], *, empty: str = "") -> None:
        """Show square tables of the same features, one per title."""
        self._names = [str(name) for name in tables[0].columns] if tables else []
        self._values = [np.where(np.eye(len(self._names), dtype=bool), np.nan, table.to_numpy()) for table in tables]
        high = _end_of_scale(self._values)
        codes = [_codes(values, high) for values in self._values]
        with self.hold_sync():
            self.size, self.titles, self.empty = len(self._names), list(titles), empty
            self.low, self.high = -high, high
            self.codes = b"".join(code.tobytes() for code in codes)

    def recolor(self, dark: bool) -> None:
        """Use the colours of a light or dark page."""
        scale = diverging(dark)(np.linspace(0, 1, N_COLOR_LEVELS))[:, :3]
        self.colors = np.round(255 * scale).astype(np.uint8).tobytes()

    def text_of(self, number: int, row: int, column: int) -> str:
        """Describe a pair: the features, and their correlation in every condition."""
        pair = " – ".join((self._names[row], self._names[column]))
        if row == column:
            return self._names[row]
        values = [values[row, column] for values in self._values]
        shown = ("r is not known" if np.isnan(values[number]) else f"r = {values[number]:.2f}").replace("-", "−")
        return f"{pair}: {shown}"

    def _on_message(self, _: object, content: dict[str, Any], _buffers: object) -> None:
        row, column = int(content.get("row", -1)), int(content.get("column", -1))
        if not (0 <= row < len(self._names) and 0 <= column < len(self._names)):
            return
        number = int(content.get("map", 0))
        if content.get("ask") == "pair" and 0 <= number < len(self._values):
            text = self.text_of(number, row, column)
            self.send({"answer": "pair", "map": number, "row": row, "column": column, "text": text})
        elif content.get("ask") == "select":
            self.selection = _toggled(self.selection, len(self._names), {row, column})


def _toggled(selection: bytes, count: int, places: set[int]) -> bytes:
    """Select the features of a pair, or no longer where both are selected."""
    marked = unpacked(selection, count)
    both = list(places)
    marked[both] = not marked[both].all()
    return packed(marked)


def _end_of_scale(values: Sequence[Floats]) -> float:
    """Return a round number that most correlations do not exceed; 1 at most."""
    sizes = np.concatenate([np.abs(each[np.isfinite(each)]) for each in values]) if values else np.array([])
    most = float(np.quantile(sizes, SHARE_IN_SCALE)) if sizes.size else 1.0
    return min(1.0, round(max(1, int(np.ceil(most / STEP_OF_SCALE))) * STEP_OF_SCALE, 1))


def _codes(values: Floats, high: float) -> Any:
    scaled = np.clip((values / high + 1) / 2, 0, 1) * (N_COLOR_LEVELS - 1)
    return np.where(np.isfinite(scaled), np.round(np.nan_to_num(scaled)), NO_VALUE).astype(np.uint8)
