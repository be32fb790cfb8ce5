"""Features along an axis, group by group: each wide enough to be seen, however large the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation

from ..core.typing import Floats, Ints
from ._style import BACKGROUND, BACKGROUND_COLOR, LETTER, faint_color, shown, small, text_inches

#: the background takes at most this share of the axis
BACKGROUND_SHARE = 0.4
#: no group takes less than this part of an even share
LEAST = 0.6
#: features beyond which a line is drawn as pixels, and columns of a drawn image
MANY = 1500
#: height of the band under the axes, in points
STRIP = 3.5


@dataclass(frozen=True, slots=True)
class Segment:
    """One group and its place on the axis."""

    name: str
    rows: Ints
    start: float
    stop: float

    @property
    def x(self) -> Floats:
        """Place of each feature."""
        return np.asarray(self.start + (self.stop - self.start) * (np.arange(self.rows.size) + 0.5) / self.rows.size)

    @property
    def middle(self) -> float:
        """Place of the label."""
        return (self.start + self.stop) / 2


def track(labels: pd.Series[Any] | None, n_features: int) -> list[Segment]:
    """Lay out features of each group from 0 to 1, the background last; without labels in one piece."""
    if labels is None:
        return [Segment("", np.arange(n_features), 0.0, 1.0)]
    codes = labels.cat.codes.to_numpy()
    groups = [(str(name), np.flatnonzero(codes == i)) for i, name in enumerate(labels.cat.categories)]
    groups = sorted([g for g in groups if g[1].size], key=lambda g: g[0] == BACKGROUND)
    widths = _widths([rows.size for _, rows in groups], has_background=groups[-1][0] == BACKGROUND)
    stops = np.cumsum(widths)
    return [
        Segment(name, rows, float(stop - width), float(stop))
        for (name, rows), stop, width in zip(groups, stops, widths, strict=True)
    ]


def _widths(sizes: list[int], *, has_background: bool) -> Floats:
    widths = np.sqrt(np.asarray(sizes, dtype=float))
    widths /= widths.sum()
    if has_background and len(sizes) > 1:
        widths[-1] = min(widths[-1], BACKGROUND_SHARE)
        widths[:-1] *= (1 - widths[-1]) / widths[:-1].sum()
    widths = np.maximum(widths, LEAST / len(sizes))
    return np.asarray(widths / widths.sum())


def draw_lines(ax: Any, segments: list[Segment], values: Floats, colors: Mapping[str, str]) -> None:
    """Draw values along the axis, a line for each group."""
    many = values.size > MANY
    for segment in segments:
        color = colors.get(segment.name, BACKGROUND_COLOR)
        few = segment.rows.size <= 60
        ax.plot(
            segment.x,
            values[segment.rows],
            color=color,
            lw=0.5 if many else 0.9,
            marker="o" if few else None,
            ms=2.2,
            mew=0,
            rasterized=many,
        )
    for segment in segments[1:]:
        ax.axvline(segment.start, color=faint_color(0.25), lw=0.6)
    ax.axhline(0, color=faint_color(), lw=0.6, zorder=0.5)
    ax.set_xlim(0, 1)
    ax.set_xticks([])


def image_of(segments: list[Segment], values: Floats, n_columns: int = MANY) -> Floats:
    """Spread features × vectors over the columns of an image; the largest value of a column stands for it."""
    edges = np.linspace(0, 1, n_columns + 1)
    image = np.empty((values.shape[1], n_columns))
    for segment in segments:
        here = (edges[:-1] + edges[1:]) / 2
        columns = np.flatnonzero((here >= segment.start) & (here < segment.stop))
        if segment is segments[-1]:
            columns = np.arange(columns[0], n_columns)
        first = np.arange(columns.size) * segment.rows.size // columns.size
        last = np.maximum((np.arange(columns.size) + 1) * segment.rows.size // columns.size, first + 1)
        for column, begin, end in zip(columns, first, last, strict=True):
            part = values[segment.rows[begin:end]]
            strongest = np.abs(part).argmax(axis=0)
            image[:, column] = part[strongest, np.arange(part.shape[1])]
    return image


def draw_strip(ax: Any, segments: list[Segment], colors: Mapping[str, str]) -> None:
    """Draw a band in the colours of the groups under the axes."""
    below = ScaledTranslation(0, -STRIP / 2 / 72, ax.figure.dpi_scale_trans)
    ax.add_collection(
        LineCollection(
            [[(s.start, 0), (s.stop, 0)] for s in segments],
            colors=[colors.get(s.name, BACKGROUND_COLOR) for s in segments],
            linewidths=STRIP,
            capstyle="butt",
            transform=ax.get_xaxis_transform() + below,
            clip_on=False,
        ),
        autolim=False,
    )


def names_of(segments: list[Segment], inches: float) -> tuple[list[str], bool]:
    """Write names and sizes of groups; say whether they fit side by side on an axis so many inches wide."""
    stacked = [f"{shown(s.name, 14)}\n{s.rows.size}" for s in segments]
    room = [(s.stop - s.start) * inches * 72 for s in segments]
    needed = [(max(map(len, text.split("\n"))) + 1) * LETTER * small() for text in stacked]
    if all(need <= width for need, width in zip(needed, room, strict=True)):
        return stacked, True
    return [text.replace("\n", " · ") for text in stacked], False


def name_height(tracks: Sequence[list[Segment]], inches: float) -> float:
    """Height in inches that names under the axes need."""
    written = [names_of(segments, inches) for segments in tracks]
    return max(0.4 if fits else text_inches(texts, small()) + 0.1 for texts, fits in written)


def name_segments(ax: Any, segments: list[Segment], inches: float) -> None:
    """Write names and sizes of groups under the axes."""
    if segments[0].name == "":
        ax.set_xlabel(f"{segments[0].rows.size} features", fontsize=small())
        return
    texts, fits = names_of(segments, inches)
    ax.set_xticks([s.middle for s in segments], texts, fontsize=small(), rotation=0 if fits else 90)
    ax.tick_params(axis="x", length=0, pad=STRIP + 2.5)
