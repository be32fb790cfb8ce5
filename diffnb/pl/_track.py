"""Features along an axis, group by group; each group is wide enough to be visible next to a large background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.transforms import ScaledTranslation

from .._keys import BACKGROUND_GROUP
from ..core.typing import Floats, Ints
from ._style import BACKGROUND_COLOR, LETTER_ASPECT, faint_color, label_text, small, text_inches

#: share of the axis that the background occupies at most
MAX_BACKGROUND_SHARE = 0.4
#: width of a group at least, relative to equal widths of all groups
MIN_RELATIVE_SEGMENT_WIDTH = 0.6
#: features up to which lines are vector graphics, and up to which each has a marker
MAX_VECTOR_FEATURES = 1500
MAX_MARKED_FEATURES = 60
MAX_IMAGE_COLUMNS = 1500
#: height of the band of colours below the axes
STRIP_POINTS = 3.5


@dataclass(frozen=True, slots=True)
class Segment:
    """One group and its position on the axis."""

    name: str
    rows: Ints
    start: float
    stop: float

    @property
    def x(self) -> Floats:
        """Position of each feature."""
        return np.asarray(self.start + (self.stop - self.start) * (np.arange(self.rows.size) + 0.5) / self.rows.size)

    @property
    def middle(self) -> float:
        """Position of the label."""
        return (self.start + self.stop) / 2


def track(labels: pd.Series[Any] | None, n_features: int) -> list[Segment]:
    """Lay out the features of each group from 0 to 1, the background last; without labels as one segment."""
    if labels is None:
        return [Segment("", np.arange(n_features), 0.0, 1.0)]
    codes = labels.cat.codes.to_numpy()
    groups = [(str(name), np.flatnonzero(codes == i)) for i, name in enumerate(labels.cat.categories)]
    groups = sorted([g for g in groups if g[1].size], key=lambda g: g[0] == BACKGROUND_GROUP)
    widths = _segment_widths([rows.size for _, rows in groups], has_background=groups[-1][0] == BACKGROUND_GROUP)
    stops = np.cumsum(widths)
    return [
        Segment(name, rows, float(stop - width), float(stop))
        for (name, rows), stop, width in zip(groups, stops, widths, strict=True)
    ]


def _segment_widths(sizes: list[int], *, has_background: bool) -> Floats:
    widths = np.sqrt(np.asarray(sizes, dtype=float))
    widths /= widths.sum()
    if has_background and len(sizes) > 1:
        widths[-1] = min(widths[-1], MAX_BACKGROUND_SHARE)
        widths[:-1] *= (1 - widths[-1]) / widths[:-1].sum()
    widths = np.maximum(widths, MIN_RELATIVE_SEGMENT_WIDTH / len(sizes))
    return np.asarray(widths / widths.sum())


def draw_lines(ax: Axes, segments: list[Segment], values: Floats, colors: Mapping[str, str]) -> None:
    """Draw values along the axis, a line for each group."""
    many = values.size > MAX_VECTOR_FEATURES
    for segment in segments:
        color = colors.get(segment.name, BACKGROUND_COLOR)
        ax.plot(
            segment.x,
            values[segment.rows],
            color=color,
            lw=0.5 if many else 0.9,
            marker="o" if segment.rows.size <= MAX_MARKED_FEATURES else None,
            ms=2.2,
            mew=0,
            rasterized=many,
        )
    for segment in segments[1:]:
        ax.axvline(segment.start, color=faint_color(0.25), lw=0.6)
    ax.axhline(0, color=faint_color(), lw=0.6, zorder=0.5)
    ax.set_xlim(0, 1)
    ax.set_xticks([])


def image_of(segments: list[Segment], values: Floats, n_columns: int = MAX_IMAGE_COLUMNS) -> Floats:
    """Distribute features × vectors over the columns of an image, which show the largest of their values."""
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
            pooled = values[segment.rows[begin:end]]
            strongest = np.abs(pooled).argmax(axis=0)
            image[:, column] = pooled[strongest, np.arange(pooled.shape[1])]
    return image


def draw_strip(ax: Axes, segments: list[Segment], colors: Mapping[str, str]) -> None:
    """Draw a band in the colours of the groups below the axes."""
    below = ScaledTranslation(0, -STRIP_POINTS / 2 / 72, ax.figure.dpi_scale_trans)
    ax.add_collection(
        LineCollection(
            [[(s.start, 0), (s.stop, 0)] for s in segments],
            colors=[colors.get(s.name, BACKGROUND_COLOR) for s in segments],
            linewidths=STRIP_POINTS,
            capstyle="butt",
            transform=ax.get_xaxis_transform() + below,
            clip_on=False,
        ),
        autolim=False,
    )


def names_of(segments: list[Segment], inches: float) -> tuple[list[str], bool]:
    """Names and sizes of groups, and whether they fit horizontally on an axis of this width."""
    stacked = [f"{label_text(s.name, 14)}\n{s.rows.size}" for s in segments]
    available = [(s.stop - s.start) * inches * 72 for s in segments]
    needed = [(max(map(len, text.split("\n"))) + 1) * LETTER_ASPECT * small() for text in stacked]
    if all(need <= width for need, width in zip(needed, available, strict=True)):
        return stacked, True
    return [text.replace("\n", " · ") for text in stacked], False


def name_height(tracks: Sequence[list[Segment]], inches: float) -> float:
    """Height of the names below the axes in inches."""
    written = [names_of(segments, inches) for segments in tracks]
    return max(0.4 if fits else text_inches(texts, small()) + 0.1 for texts, fits in written)


def name_segments(ax: Axes, segments: list[Segment], inches: float) -> None:
    """Write names and sizes of groups below the axes."""
    if segments[0].name == "":
        ax.set_xlabel(f"{segments[0].rows.size} features", fontsize=small())
        return
    texts, fits = names_of(segments, inches)
    ax.set_xticks([s.middle for s in segments], texts, fontsize=small(), rotation=0 if fits else 90)
    ax.tick_params(axis="x", length=0, pad=STRIP_POINTS + 2.5)
