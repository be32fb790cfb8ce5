"""A map of features in the browser: places as float32, colours as codes, names only when asked for."""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import pandas as pd
import traitlets as t
from matplotlib.colors import to_rgb

from ..pl._read import is_categorical, numbers_or_categories
from ..pl._style import BACKGROUND, MARKERS, colors_of, diverging, markers_of, sequential
from ._marks import packed
from ._modules import STATIC, esm

#: code of a feature that has no value; levels of a scale of numbers, and groups that a legend lists
NO_VALUE, LEVELS, LISTED = 255, 240, 24
#: features named without being asked for
NAMED = 12


class FeatureMap(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """One point a feature, to pan, zoom, hover and lasso."""

    _esm = esm("feature_map/feature_map.js")
    _css = STATIC / "feature_map" / "feature_map.css"

    points = t.Bytes(b"").tag(sync=True)
    codes = t.Bytes(b"").tag(sync=True)
    #: red, green and blue of each code, and its marker
    colors = t.Bytes(b"").tag(sync=True)
    shapes = t.Bytes(b"").tag(sync=True)
    legend = t.Dict({}).tag(sync=True)
    axes = t.List(t.Unicode(), ["", ""]).tag(sync=True)
    labels: Any = t.List().tag(sync=True)
    # what comes over the wire is a view of the message, not bytes
    selection = t.Bytes(b"").tag(sync=True, from_json=lambda value, _: bytes(value))

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._names: list[str] = []
        self._values: list[str] = []
        self.on_msg(self._on_message)

    def place(self, x: pd.Series[Any], y: pd.Series[Any], *, foremost: pd.Series[Any]) -> None:
        """Put features at these places; those with the largest values of `foremost` are named."""
        points = np.column_stack([x.to_numpy(dtype=np.float32), y.to_numpy(dtype=np.float32)])
        self._names = [str(n) for n in x.index]
        named = _foremost(foremost, np.isfinite(points).all(axis=1))
        with self.hold_sync():
            self.axes = [str(x.name), str(y.name)]
            if len(points) * 8 != len(self.points):
                self.selection = packed(np.zeros(len(points), dtype=bool))
            self.points = points.tobytes()
            self.labels = [[int(i), self._names[i]] for i in named]

    def paint(self, values: pd.Series[Any], *, colors: dict[str, str] | None = None, dark: bool = False) -> None:
        """Colour features by groups or numbers."""
        if pd.api.types.is_bool_dtype(values):
            values = values.map({True: "yes", False: BACKGROUND}).rename(values.name)
        series = numbers_or_categories(values.reset_index(drop=True))
        title = str(values.name)
        if is_categorical(series):
            self._values = ["" if pd.isna(v) else str(v) for v in series]
            codes, palette, shapes, legend = _groups(series, title, colors)
        else:
            self._values = ["" if np.isnan(v) else f"{title} {v:.3g}".replace("-", "−") for v in series]
            codes, palette, shapes, legend = _numbers(series.to_numpy(dtype=float), title, dark)
        with self.hold_sync():
            self.codes, self.colors, self.shapes = codes.tobytes(), palette.tobytes(), shapes.tobytes()
            self.legend = legend

    def _on_message(self, _: object, content: dict[str, Any], _buffers: object) -> None:
        i = int(content.get("index", -1))
        if content.get("ask") == "name" and 0 <= i < len(self._names):
            value = self._values[i] if i < len(self._values) else ""
            self.send({"answer": "name", "index": i, "text": " · ".join(filter(None, [self._names[i], value]))})


def _foremost(weight: pd.Series[Any], placed: Any) -> Any:
    size = np.where(placed, weight.to_numpy(dtype=float), -np.inf)
    order = np.argsort(-np.nan_to_num(size, nan=-np.inf), kind="stable")[:NAMED]
    return order[np.isfinite(size[order])]


def _groups(series: pd.Series[Any], title: str, colors: dict[str, str] | None) -> tuple[Any, Any, Any, dict[str, Any]]:
    names = [str(c) for c in series.cat.categories]
    # the background comes first, since the first code is drawn under the others
    ordered = [BACKGROUND, *(n for n in names if n != BACKGROUND)]
    ordered = ordered[:NO_VALUE]
    given = colors if colors is not None and all(n in colors for n in names) else colors_of(names)
    marks = markers_of([n for n in ordered if n in names])
    palette = np.array([to_rgb(given.get(n, "#A9A9A9")) for n in ordered])
    shapes = np.array([MARKERS.index(marks.get(n, MARKERS[0])) for n in ordered], dtype=np.uint8)
    place = {name: i for i, name in enumerate(ordered)}
    of_category = np.array([*(place.get(n, NO_VALUE) for n in names), NO_VALUE], dtype=np.uint8)
    codes = of_category[series.cat.codes.to_numpy()]  # a missing value has code −1, the last
    counts = np.bincount(codes, minlength=256)
    items = [
        {"label": n, "color": given[n], "shape": int(shapes[place[n]]), "count": int(counts[place[n]])}
        for n in [*(n for n in ordered[1:] if n in names), *([BACKGROUND] if BACKGROUND in names else [])]
    ]
    legend = {"title": title, "items": items[:LISTED], "more": max(0, len(items) - LISTED)}
    return codes, np.round(255 * palette).astype(np.uint8), shapes, legend


def _numbers(values: Any, title: str, dark: bool) -> tuple[Any, Any, Any, dict[str, Any]]:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    signed = low < 0 < high
    if signed:
        low, high = -max(-low, high), max(-low, high)
    scaled = (values - low) / ((high - low) or 1.0) * (LEVELS - 1)
    codes = np.where(np.isfinite(scaled), np.clip(np.nan_to_num(scaled), 0, LEVELS - 1), NO_VALUE).astype(np.uint8)
    scale = diverging(dark) if signed else sequential(dark)
    palette = np.round(255 * scale(np.linspace(0, 1, LEVELS))[:, :3]).astype(np.uint8)
    return codes, palette, np.zeros(LEVELS, dtype=np.uint8), {"title": title, "low": low, "high": high}
