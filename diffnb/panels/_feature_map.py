"""A map of features in the browser: positions as float32, colours as codes, names on request."""

from __future__ import annotations

from typing import Any

import anywidget
import numpy as np
import pandas as pd
import traitlets as t
from matplotlib.colors import to_rgb

from .._keys import BACKGROUND_GROUP
from ..core.typing import Floats, Ints
from ..pl._read import is_categorical, numbers_or_categories
from ..pl._style import BACKGROUND_COLOR, MARKERS, color_limits, colors_of, diverging, markers_of, sequential
from ._marks import packed
from ._modules import STATIC, esm

#: code of a feature without a value, and number of codes of a colour scale
NO_VALUE, N_COLOR_LEVELS = 255, 240
MAX_LEGEND_GROUPS = 24
#: features whose names are shown on the map
MAX_LABELLED_FEATURES = 12


class FeatureMap(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """One point per feature, or per observation, to pan, zoom, hover and lasso."""

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
    #: what a point is
    noun = t.Unicode("features").tag(sync=True)
    #: lines between points: two points each, the look of each, and its strength (0–255)
    edges = t.Bytes(b"").tag(sync=True)
    edge_codes = t.Bytes(b"").tag(sync=True)
    edge_strengths = t.Bytes(b"").tag(sync=True)
    edge_looks: Any = t.List().tag(sync=True)
    #: whether both axes have the same scale, whether they say nothing, and the radius of markers (0 to choose it)
    equal = t.Bool(False).tag(sync=True)
    bare = t.Bool(False).tag(sync=True)
    radius = t.Float(0.0).tag(sync=True)
    # the value received from the browser is a memoryview of the message, not bytes
    selection = t.Bytes(b"").tag(sync=True, from_json=lambda value, _: bytes(value))

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self._names: list[str] = []
        self._values: list[str] = []
        self.on_msg(self._on_message)

    def place(self, x: pd.Series[Any], y: pd.Series[Any], *, priority: pd.Series[Any]) -> None:
        """Put features at these positions; those with the largest values of `priority` are labelled."""
        points = np.column_stack([x.to_numpy(dtype=np.float32), y.to_numpy(dtype=np.float32)])
        self._names = [str(n) for n in x.index]
        labelled = _by_priority(priority, np.isfinite(points).all(axis=1))
        with self.hold_sync():
            self.axes = [str(x.name), str(y.name)]
            if len(points) * 8 != len(self.points):
                self.selection = packed(np.zeros(len(points), dtype=bool))
            self.points = points.tobytes()
            self.labels = [[int(i), self._names[i]] for i in labelled]

    def paint(self, values: pd.Series[Any], *, colors: dict[str, str] | None = None, dark: bool = False) -> None:
        """Colour features by groups or numbers."""
        if pd.api.types.is_bool_dtype(values):
            values = values.map({True: "yes", False: BACKGROUND_GROUP}).rename(values.name)
        elif pd.api.types.is_object_dtype(values) or pd.api.types.is_string_dtype(values):
            values = values.replace("", BACKGROUND_GROUP)  # a text of no letters would be an entry without a name
        series = numbers_or_categories(values.reset_index(drop=True))
        title = str(values.name)
        if is_categorical(series):
            self._values = ["" if pd.isna(v) else str(v) for v in series]
            codes, palette, shapes, legend = _encode_groups(series, title, colors)
        else:
            self._values = ["" if np.isnan(v) else f"{title} {v:.3g}".replace("-", "−") for v in series]
            codes, palette, shapes, legend = _encode_numbers(series.to_numpy(dtype=float), title, dark)
        with self.hold_sync():
            self.codes, self.colors, self.shapes = codes.tobytes(), palette.tobytes(), shapes.tobytes()
            self.legend = legend

    def _on_message(self, _: object, content: dict[str, Any], _buffers: object) -> None:
        i = int(content.get("index", -1))
        if content.get("ask") == "name" and 0 <= i < len(self._names):
            value = self._values[i] if i < len(self._values) else ""
            self.send({"answer": "name", "index": i, "text": " · ".join(filter(None, [self._names[i], value]))})


def _by_priority(priority: pd.Series[Any], placed: Any) -> Ints:
    size = np.where(placed, priority.to_numpy(dtype=float), -np.inf)
    order = np.argsort(-np.nan_to_num(size, nan=-np.inf), kind="stable")[:MAX_LABELLED_FEATURES]
    return np.asarray(order[np.isfinite(size[order])])


def _encode_groups(
    series: pd.Series[Any], title: str, colors: dict[str, str] | None
) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Code of each feature, colour and marker of each code, and the legend."""
    names = [str(c) for c in series.cat.categories]
    # the background comes first, since the first code is drawn below the others
    ordered = [BACKGROUND_GROUP, *(n for n in names if n != BACKGROUND_GROUP)]
    ordered = ordered[:NO_VALUE]
    given = colors if colors is not None and all(n in colors for n in names) else colors_of(names)
    marks = markers_of([n for n in ordered if n in names])
    palette = np.array([to_rgb(given.get(n, BACKGROUND_COLOR)) for n in ordered])
    shapes = np.array([MARKERS.index(marks.get(n, MARKERS[0])) for n in ordered], dtype=np.uint8)
    code_of = {name: i for i, name in enumerate(ordered)}
    of_category = np.array([*(code_of.get(n, NO_VALUE) for n in names), NO_VALUE], dtype=np.uint8)
    codes = of_category[series.cat.codes.to_numpy()]  # a missing value has code −1, the last
    counts = np.bincount(codes, minlength=256)
    items = [
        {"label": n, "color": given[n], "shape": int(shapes[code_of[n]]), "count": int(counts[code_of[n]])}
        for n in [*(n for n in ordered[1:] if n in names), *([BACKGROUND_GROUP] if BACKGROUND_GROUP in names else [])]
    ]
    legend = {"title": title, "items": items[:MAX_LEGEND_GROUPS], "more": max(0, len(items) - MAX_LEGEND_GROUPS)}
    return codes, np.round(255 * palette).astype(np.uint8), shapes, legend


def _encode_numbers(values: Floats, title: str, dark: bool) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Code of each feature, colour and marker of each code, and the legend."""
    low, high, signed = color_limits(values)
    last = N_COLOR_LEVELS - 1
    scaled = (values - low) / ((high - low) or 1.0) * last
    codes = np.where(np.isfinite(scaled), np.clip(np.nan_to_num(scaled), 0, last), NO_VALUE).astype(np.uint8)
    scale = diverging(dark) if signed else sequential(dark)
    palette = np.round(255 * scale(np.linspace(0, 1, N_COLOR_LEVELS))[:, :3]).astype(np.uint8)
    return codes, palette, np.zeros(N_COLOR_LEVELS, dtype=np.uint8), {"title": title, "low": low, "high": high}
