"""Labels next to points that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from ..core.typing import Floats
from ._style import faint_color, page_color, small

#: candidate distances of a label from its marker, the best first
DISTANCES_POINTS = (4.0, 8.0, 13.0, 19.0, 26.0, 34.0, 43.0)
ANGLES_RADIANS = np.deg2rad([0, 180, 25, 155, -25, -155, 90, -90, 50, 130, -50, -130, 70, 110, -70, -110])
#: markers among which those hidden by a label are counted
MAX_COUNTED_MARKERS = 3000
#: a hidden marker costs as much as this distance
HIDDEN_COST_POINTS = 9.0
MARKER_RADIUS_POINTS = 2.0
#: a line connects a label with its marker where they are farther apart than this
MIN_LEADER_POINTS = 6.0
LABEL_MARGIN_POINTS = 1.5


class Labels(Artist):  # type: ignore[misc, unused-ignore]
    """Places labels whenever the axes are drawn, so that they fit at any size; hides those that fit nowhere."""

    def __init__(self, ax: Axes, where: Floats, texts: Sequence[str], others: Floats) -> None:
        super().__init__()
        self.set_zorder(-1)  # before the labels themselves are drawn
        self.set_in_layout(False)
        self.where = where
        self.others = others[:: max(1, len(others) // MAX_COUNTED_MARKERS)]
        line = {"arrowstyle": "-", "color": faint_color(0.6), "lw": 0.6, "shrinkA": 0, "shrinkB": 2}
        self.texts: list[Any] = [
            ax.annotate(
                text,
                tuple(point),
                xytext=(0, 0),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=small(),
                arrowprops=line,
                # a pale box, not an outline of letters, which would turn text into shapes in vector graphics
                bbox={"boxstyle": "square,pad=0.05", "facecolor": page_color(0.6), "linewidth": 0},
                zorder=5,
                in_layout=False,
            )
            for text, point in zip(texts, where, strict=True)
        ]
        ax.add_artist(self)

    def draw(self, renderer: Any) -> None:
        """Place each label in turn where it covers no other and hides the fewest markers."""
        scale = renderer.points_to_pixels(1.0)
        ax: Any = self.axes
        anchors = ax.transData.transform(self.where)
        page = LabelPage(ax.get_window_extent(renderer), ax.transData.transform(self.others), scale)
        for text, anchor in zip(self.texts, anchors, strict=True):
            text.set_visible(True)  # a hidden text has no size
            extent = Text.get_window_extent(text, renderer)
            half = np.array([extent.width, extent.height]) / 2 + LABEL_MARGIN_POINTS * scale
            centre = page.place(anchor, half)
            text.set_visible(centre is not None)
            if centre is not None:
                text.set_position((centre - anchor) / scale)
                text.arrow_patch.set_visible(bool(_gap(anchor, centre, half) > MIN_LEADER_POINTS * scale))
        self.stale = False


class LabelPage:
    """Markers, labels and lines that were placed so far, in pixels."""

    def __init__(self, frame: Bbox, points: Floats, scale: float) -> None:
        self.frame, self.points, self.scale = frame, points, scale
        self.boxes: list[tuple[Floats, Floats]] = []
        self.lines: list[tuple[Floats, Floats]] = []

    def place(self, anchor: Floats, half: Floats) -> Floats | None:
        """Find the best place for a box and occupy it."""
        best, least = None, np.inf
        for distance in DISTANCES_POINTS:
            if distance >= least:
                break
            for angle in ANGLES_RADIANS:
                direction = np.array([np.cos(angle), np.sin(angle)])
                centre = anchor + direction * (distance * self.scale + half * np.abs(direction))
                if not self._free(anchor, centre, half):
                    continue
                cost = distance + HIDDEN_COST_POINTS * self._hidden(centre, half)
                if cost < least:
                    best, least = centre, cost
        if best is not None:
            self.boxes.append((best - half, best + half))
            if _gap(anchor, best, half) > MIN_LEADER_POINTS * self.scale:
                self.lines.append((anchor, best))
        return best

    def _free(self, anchor: Floats, centre: Floats, half: Floats) -> bool:
        """Whether a box is within the frame, overlaps no other box or line, and its own line crosses none of them."""
        low, high, frame = centre - half, centre + half, self.frame
        if low[0] < frame.x0 or low[1] < frame.y0 or high[0] > frame.x1 or high[1] > frame.y1:
            return False
        if any((low < b).all() and (a < high).all() for a, b in self.boxes):
            return False
        if any(_crosses(a, b, low, high) for a, b in self.lines):
            return False
        if _gap(anchor, centre, half) <= MIN_LEADER_POINTS * self.scale:
            return True
        if any(_crosses(anchor, centre, a, b) for a, b in self.boxes):
            return False
        return not any(_intersect(anchor, centre, a, b) for a, b in self.lines)

    def _hidden(self, centre: Floats, half: Floats) -> int:
        return int((np.abs(self.points - centre) < half + MARKER_RADIUS_POINTS * self.scale).all(axis=1).sum())


def _gap(anchor: Floats, centre: Floats, half: Floats) -> float:
    """Distance from a point to a box."""
    return float(np.hypot(*np.maximum(np.abs(anchor - centre) - half, 0)))


def _crosses(start: Floats, stop: Floats, low: Floats, high: Floats) -> bool:
    """Whether a line passes through a box, tested at 40 points."""
    steps = start + np.linspace(0, 1, 40)[:, None] * (stop - start)
    return bool(((steps > low) & (steps < high)).all(axis=1).any())


def _intersect(a: Floats, b: Floats, c: Floats, d: Floats) -> bool:
    def side(p: Floats, q: Floats, r: Floats) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
