"""Draw which part of the package imports which: `python docs/make_import_graph.py` writes docs/images/import_graph.svg.

The imports are read from the sources, by the module that the test of the layout uses. Every arrow stands for one or
more imports; `core.typing`, which everything may import, is left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from import_graph import ImportGraph, cycles, forbidden_edges, part_of, read_import_graph

PICTURE = ROOT / "docs" / "images" / "import_graph.svg"
#: modules at the top of the package that every part above core uses, drawn as one box
SHARED = "shared modules"
#: boxes from top to bottom, each with its place from left (0) to right (1); a part imports only parts below it, and
#: its neighbor in the row where an arrow says so
ROWS: tuple[dict[str, float], ...] = (
    {"panels": 0.62, "cli": 0.3},
    {"report": 0.84},
    {"pl": 0.62},
    {"sklearn": 0.05, "pp": 0.22, "tl": 0.4, "get": 0.66, "datasets": 0.9},
    {SHARED: 0.66},
    {
        "core.disc": 0.08,
        "core.sparda": 0.25,
        "core.scorecard": 0.42,
        "core.preservation": 0.59,
        "core.dufs": 0.76,
        "core.mahalanobis": 0.92,
    },
    {"core.spectral": 0.25, "core.stats": 0.75},
    {"core.arrays": 0.5},
    {"core.runtime": 0.5},
)
LEFT_OUT = ("", "core", "core.typing")
WIDTH, MARGIN, ROW_HEIGHT, BOX_HEIGHT, BOX_WIDTH = 1000, 30, 98, 44, 132
#: height between the first row and the top, where the counts are written
TOP = 76
#: arrows have the color of the part that they lead to
COLORS = {
    "core.runtime": "#6B7280",
    "core.arrays": "#0072B2",
    "core.spectral": "#009E73",
    "core.stats": "#CC79A7",
    "get": "#D55E00",
    SHARED: "#8C6D1F",
}
OTHER_COLOR = "#4B5563"
INK, FAINT, PAPER, CORE = "#1F2937", "#6B7280", "#FFFFFF", "#F3F4F6"


@dataclass(frozen=True)
class Box:
    """A part of the package on the picture: its center, and the number of its row."""

    x: float
    y: float
    row: int


def parts(graph: ImportGraph) -> Counter[str]:
    """Count the modules of every box."""
    return Counter(box for module in graph.files if (box := box_of(module)) is not None)


def arrows(graph: ImportGraph) -> Counter[tuple[str, str]]:
    """Count the imports between every two boxes."""
    ends = ((box_of(edge.source), box_of(edge.target)) for edge in graph.internal)
    return Counter((source, target) for source, target in ends if source and target and source != target)


def box_of(module: str) -> str | None:
    """Return the box that a module is drawn in, if any."""
    part = part_of(module)
    if part in LEFT_OUT:
        return None
    return SHARED if part.startswith("_") else part


def layout() -> dict[str, Box]:
    """Place every box."""
    return {
        name: Box(MARGIN + place * (WIDTH - 2 * MARGIN), row_center(row), row)
        for row, names in enumerate(ROWS)
        for name, place in names.items()
    }


def row_center(row: int) -> float:
    """Return the height of the middle of a row."""
    return TOP + row * ROW_HEIGHT + BOX_HEIGHT / 2


# --- arrows -------------------------------------------------------------------------------------------------------


def ports(ends: Iterable[tuple[str, str]], boxes: Mapping[str, Box], side: int) -> dict[tuple[str, str], float]:
    """Spread the arrows that leave (side 0) or reach (side 1) each box along its edge, ordered by their other end."""
    by_box: dict[str, list[tuple[str, str]]] = {}
    for end in ends:
        by_box.setdefault(end[side], []).append(end)
    places = {}
    for name, these in by_box.items():
        these.sort(key=lambda end: (boxes[end[1 - side]].x, boxes[end[1 - side]].row * (1 if side else -1)))
        width = 0.8 * box_width(name)
        for number, end in enumerate(these):
            places[end] = boxes[name].x + width * ((number + 0.5) / len(these) - 0.5)
    return places


def box_width(name: str) -> float:
    """Return the width of a box; that of the shared modules holds all their names."""
    return 4.1 * BOX_WIDTH if name == SHARED else BOX_WIDTH


def gaps(row: int, boxes: Mapping[str, Box]) -> list[tuple[float, float]]:
    """Return the free stretches of a row, between its boxes and beside them."""
    edges = sorted((boxes[name].x - box_width(name) / 2, boxes[name].x + box_width(name) / 2) for name in ROWS[row])
    starts, stops = [MARGIN / 2, *(right for _, right in edges)], [*(left for left, _ in edges), WIDTH - MARGIN / 2]
    return list(zip(starts, stops, strict=True))


def waypoints(start: float, stop: float, rows: range, boxes: Mapping[str, Box], lanes: Counter) -> list[float]:
    """Lead an arrow through the gap of every row in between that is nearest to its straight line."""
    places = []
    for step, row in enumerate(rows, 1):
        straight = start + (stop - start) * step / (len(rows) + 1)
        gap = min(gaps(row, boxes), key=lambda gap: max(gap[0] - straight, straight - gap[1], 0.0))
        lane = lanes[row, gap]
        lanes[row, gap] += 1
        inner = gap[0] + 10, gap[1] - 10
        # every further arrow through a gap keeps a distance from those before it
        place = min(max(straight, inner[0]), inner[1])
        shift = 7 * lane if place - inner[0] < inner[1] - place else -7 * lane
        places.append(min(max(place + shift, inner[0]), inner[1]))
    return places


def path_of(points: list[tuple[float, float]]) -> str:
    """Join points by curves that are vertical at every one of them."""
    (x, y), *others = points
    drawn = [f"M{x:.1f} {y:.1f}"]
    for after_x, after_y in others:
        bend = 0.5 * (after_y - y)
        drawn.append(f"C{x:.1f} {y + bend:.1f} {after_x:.1f} {after_y - bend:.1f} {after_x:.1f} {after_y:.1f}")
        x, y = after_x, after_y
    return "".join(drawn)


def draw_arrows(counts: Mapping[tuple[str, str], int], boxes: Mapping[str, Box]) -> list[str]:
    """Draw every arrow, those within a row as straight lines."""
    down = [end for end in sorted(counts) if boxes[end[0]].row < boxes[end[1]].row]
    leave, reach = ports(down, boxes, 0), ports(down, boxes, 1)
    lanes: Counter = Counter()
    lines = []
    for end in sorted(counts):
        source, target = (boxes[name] for name in end)
        if end in leave:
            rows = range(source.row + 1, target.row)
            across = [leave[end], *waypoints(leave[end], reach[end], rows, boxes, lanes), reach[end]]
            heights = [source.y + BOX_HEIGHT / 2, *(row_center(row) for row in rows), target.y - BOX_HEIGHT / 2 - 7]
            path = path_of(list(zip(across, heights, strict=True)))
        else:
            towards = 1 if target.x > source.x else -1
            start, stop = source.x + towards * box_width(end[0]) / 2, target.x - towards * (box_width(end[1]) / 2 + 7)
            path = f"M{start:.1f} {source.y:.1f}L{stop:.1f} {target.y:.1f}"
        color = COLORS.get(end[1], OTHER_COLOR)
        lines.append(
            f'<path d="{path}" stroke="{color}" marker-end="url(#tip-{color[1:]})">'
            f"<title>{escape(f'{end[0]} → {end[1]}')}</title></path>"
        )
    return lines


# --- the picture --------------------------------------------------------------------------------------------------


def draw_box(name: str, box: Box, n_modules: int, shared: list[str]) -> str:
    """Draw a box with its name and the number of its modules."""
    width = box_width(name)
    color = COLORS.get(name, OTHER_COLOR)
    label = " ".join(shared) if name == SHARED else name.removeprefix("core.")
    style = "shared" if name == SHARED else "name"
    modules = f"{n_modules} module" + "s" * (n_modules != 1)
    return (
        f'<rect x="{box.x - width / 2:.1f}" y="{box.y - BOX_HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{BOX_HEIGHT}" rx="7" fill="{PAPER}" stroke="{color}" stroke-width="1.6"/>'
        f'<text x="{box.x:.1f}" y="{box.y - 2:.1f}" class="{style}">{escape(label)}</text>'
        f'<text x="{box.x:.1f}" y="{box.y + 14:.1f}" class="count">{modules}</text>'
    )


def picture(graph: ImportGraph) -> str:
    """Return the SVG."""
    boxes, counts, n_modules = layout(), arrows(graph), parts(graph)
    unknown = sorted(n_modules.keys() - boxes.keys())
    if unknown:
        raise SystemExit(f"no place on the picture for {', '.join(unknown)}: add to ROWS in {Path(__file__).name}")
    shared = sorted({part_of(module) for module in graph.files if box_of(module) == SHARED})
    height = TOP + (len(ROWS) - 1) * ROW_HEIGHT + BOX_HEIGHT + 40
    core = min(row for row, names in enumerate(ROWS) if next(iter(names)).startswith("core."))
    core_top = TOP + core * ROW_HEIGHT - 26
    colors = sorted({*COLORS.values(), OTHER_COLOR})
    tips = (
        f'<marker id="tip-{color[1:]}" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="6" markerHeight="6" '
        f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{color}" stroke="none"/></marker>'
        for color in colors
    )
    caption = (
        f"{len(graph.files)} modules; {len(counts)} arrows between parts; "
        f"{len(forbidden_edges(graph))} forbidden imports; {len(cycles(graph))} cycles"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            'aria-label="Which part of the package imports which" font-family="Helvetica, Arial, sans-serif">',
            "<style>.name{font-size:15px;font-weight:600;text-anchor:middle}"
            f".shared{{font-size:12.5px;font-weight:600;text-anchor:middle}}.count{{font-size:11.5px;fill:{FAINT};text-anchor:middle}}</style>",
            f"<defs>{''.join(tips)}</defs>",
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{PAPER}"/>',
            f'<rect x="{MARGIN / 2}" y="{core_top}" width="{WIDTH - MARGIN}" height="{height - core_top - 14}" rx="10" '
            f'fill="{CORE}"/>',
            f'<text x="{MARGIN}" y="32" font-size="18" font-weight="600" fill="{INK}">Imports of diffnb</text>',
            f'<text x="{MARGIN}" y="53" font-size="13" fill="{FAINT}">{escape(caption)}</text>',
            f'<text x="{MARGIN}" y="{height - 28}" font-size="13" fill="{FAINT}">core: arrays in, frozen results out, '
            "without AnnData and plots</text>",
            '<g fill="none" stroke-width="1.3" stroke-opacity="0.75">',
            *draw_arrows(counts, boxes),
            "</g>",
            f'<g fill="{INK}">',
            *(draw_box(name, box, n_modules[name], shared) for name, box in boxes.items()),
            "</g>",
            "</svg>",
            "",
        ]
    )


def main() -> None:
    """Write the picture and print the counts."""
    graph = read_import_graph()
    PICTURE.write_text(picture(graph), encoding="utf-8")
    print(f"{len(graph.files)} modules, {len(graph.internal)} imports between them")
    print(f"{len(forbidden_edges(graph))} forbidden imports, {len(cycles(graph))} cycles")
    print(f"written: {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
