"""Figures as PNG bytes, and the static picture that stands for a panel where nothing is alive."""

from __future__ import annotations

import base64
import io
import struct
import textwrap
import zlib
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from ..pl._style import off_screen

#: dots an inch of a plain screen, and of pictures: fewer where many points make them heavy to send
PLAIN = 90
DPI = (180, 135, 90)
#: bytes that a picture may have
HEAVY = 180_000
#: dots an inch of the static picture
STILL = 110
INK = {False: "#1A1A1A", True: "#E8E8E8"}
#: letters of a line of code, and lines of code
LETTERS, LINES = 110, 40
PAGE = 9.0
#: length of what stands before the first chunk that may be added: signature and IHDR; a multiple of three,
#: so that what follows has letters of its own in base64
HEADER = 33


def theme_params(dark: bool) -> dict[str, Any]:
    """Colours of figures on a light or dark page, whatever style the notebook has set."""
    ink = INK[dark]
    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    faces = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    return dict.fromkeys(inked, ink) | dict.fromkeys(faces, "none") | {"font.size": 10}


def draw(call: Any, adata: Any, dark: bool) -> tuple[bytes, int]:
    """Draw what a `pl` call draws; bytes, and the width on a plain screen."""
    with mpl.rc_context(theme_params(dark)), off_screen():
        figure = _figure(call.run(adata))
        for dpi in DPI:
            written = io.BytesIO()
            figure.savefig(written, format="png", dpi=dpi)
            data = written.getvalue()
            if len(data) <= HEAVY:
                break
    return data, round(struct.unpack(">I", data[16:20])[0] * PLAIN / dpi)


def still(call: Any, adata: Any) -> Any:
    """Draw what a `pl` call draws for the static picture."""
    with mpl.rc_context(theme_params(dark=False)), off_screen():
        return _image(_figure(call.run(adata)))


def _figure(made: Any) -> Any:
    return made if isinstance(made, Figure) else made.figure


def _image(figure: Any) -> Any:
    figure.set_dpi(STILL)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba()))


def compose(head: Sequence[str], pictures: Sequence[Any], code: str) -> bytes:
    """Put title, pictures and code under each other on white."""
    lines = [part for line in code.splitlines() for part in textwrap.wrap(line, LETTERS, subsequent_indent="    ")]
    shown = lines[:LINES] + (["…"] if len(lines) > LINES else [])
    with mpl.rc_context(theme_params(dark=False)):
        title = _text(head, sizes=[14.0, *[10.0] * (len(head) - 1)], family="sans-serif")
        below = _text(shown, sizes=[8.5] * len(shown), family="monospace")
    rows = [[title], *_rows(pictures), [below]]
    edge = 12
    width = max(sum(p.width for p in row) for row in rows)
    heights = [max(p.height for p in row) for row in rows]
    page = Image.new("RGBA", (width + 2 * edge, sum(heights) + 2 * edge), "white")
    top = edge
    for row, height in zip(rows, heights, strict=True):
        left = edge
        for part in row:
            page.alpha_composite(part, (left, top))
            left += part.width
        top += height
    written = io.BytesIO()
    # fewer steps of each colour, white among them: smaller, and unlike a palette it keeps a colour of which
    # there is little from becoming its neighbour
    page.convert("RGB").point([round(v * 31 / 255) * 255 // 31 for v in range(256)] * 3).save(written, format="png")
    return written.getvalue()


def _rows(pictures: Sequence[Any]) -> list[list[Any]]:
    """Put pictures beside each other as far as the page is wide."""
    rows: list[list[Any]] = []
    for picture in pictures:
        if rows and sum(p.width for p in rows[-1]) + picture.width <= PAGE * STILL:
            rows[-1].append(picture)
        else:
            rows.append([picture])
    return rows


def _text(lines: Sequence[str], *, sizes: Sequence[float], family: str) -> Any:
    heights = [1.45 * size / 72 for size in sizes]
    figure = Figure(figsize=(PAGE, sum(heights) + 0.1))
    top = 1 - 0.05 / figure.get_figheight()
    for line, size, height in zip(lines, sizes, heights, strict=True):
        # a dollar in a name is a dollar
        figure.text(0.005, top, line, fontsize=size, family=family, va="top", parse_math=False)
        top -= height / figure.get_figheight()
    return _image(figure)


def marked(png: bytes, mark: str) -> bytes:
    """Write a mark into the PNG, where it has no influence on the picture."""
    return png[:HEADER] + _chunk(mark) + png[HEADER:]


def mark_in_base64(mark: str) -> str:
    """Return the letters by which base64 of a marked PNG can be told from all others."""
    chunk = _chunk(mark)
    return base64.b64encode(chunk[: len(chunk) // 3 * 3]).decode()


def _chunk(mark: str) -> bytes:
    body = b"tEXtdiffnb\x00" + mark.encode("latin-1")
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
