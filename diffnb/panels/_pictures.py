"""Figures as PNG bytes, and the static picture of a panel."""

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
from anndata import AnnData
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from .._calls import Call
from ..pl._canvas import off_screen

#: resolution of a plain screen and of the static picture
SCREEN_DPI, SNAPSHOT_DPI = 90, 110
#: resolutions of pictures in tabs; a lower one is used if a picture of the one before is too large to send
PICTURE_DPIS = (180, 135, 90)
MAX_PICTURE_BYTES = 180_000
#: colour of text, by whether the page is dark
INK = {False: "#1A1A1A", True: "#E8E8E8"}
MAX_CODE_LETTERS, MAX_CODE_LINES = 110, 40
MAX_HEAD_LETTERS = 95
PAGE_INCHES = 9.0
PAGE_MARGIN_PIXELS = 12
#: bytes of a PNG before the first chunk that may be inserted: signature and IHDR. A multiple of three, so that the
#: inserted chunk begins at a letter of base64
PNG_HEADER_BYTES = 33


def theme_params(dark: bool) -> dict[str, Any]:
    """Colours of figures on a light or dark page, independent of the style of the notebook."""
    ink = INK[dark]
    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    faces = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    return dict.fromkeys(inked, ink) | dict.fromkeys(faces, "none") | {"font.size": 10}


def render_png(call: Call, adata: AnnData, dark: bool) -> tuple[bytes, int]:
    """Render the figure of a `pl` call; return the PNG and its width on a plain screen."""
    with mpl.rc_context(theme_params(dark)), off_screen():
        figure = _figure_of(call.run(adata))
        for dpi in PICTURE_DPIS:
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=dpi)
            data = file.getvalue()
            if len(data) <= MAX_PICTURE_BYTES:
                break
    return data, round(png_width(data) * SCREEN_DPI / dpi)


def png_width(png: bytes) -> int:
    """Width of a PNG in pixels."""
    return int.from_bytes(png[16:20], "big")


def render_image(call: Call, adata: AnnData) -> Any:
    """Render the figure of a `pl` call for the static picture."""
    with mpl.rc_context(theme_params(dark=False)), off_screen():
        return _rasterized(_figure_of(call.run(adata)))


def _figure_of(drawn: Figure | Axes) -> Any:
    return drawn if isinstance(drawn, Figure) else drawn.figure


def _rasterized(figure: Figure) -> Any:
    figure.set_dpi(SNAPSHOT_DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba()))


def compose(head: Sequence[str], pictures: Sequence[Any], code: str) -> bytes:
    """Stack title, pictures and code on white."""
    wrapped = [textwrap.wrap(line, MAX_CODE_LETTERS, subsequent_indent="    ") for line in code.splitlines()]
    lines = [line for lines in wrapped for line in lines]
    shown = lines[:MAX_CODE_LINES] + (["…"] if len(lines) > MAX_CODE_LINES else [])
    # letters of the head are wider than those of code
    head = [line for text in head for line in textwrap.wrap(text, MAX_HEAD_LETTERS, subsequent_indent="    ")]
    with mpl.rc_context(theme_params(dark=False)):
        title = _text_image(head, sizes=[14.0, *[10.0] * (len(head) - 1)], family="sans-serif")
        below = _text_image(shown, sizes=[8.5] * len(shown), family="monospace")
    page = _page([[title], *_picture_rows(pictures), [below]])
    file = io.BytesIO()
    # 32 levels of each colour make the file smaller; unlike a palette they keep rare colours distinct
    page.convert("RGB").point([round(v * 31 / 255) * 255 // 31 for v in range(256)] * 3).save(file, format="png")
    return file.getvalue()


def _page(rows: Sequence[Sequence[Any]]) -> Any:
    """Paste rows of images on a white page."""
    margin = PAGE_MARGIN_PIXELS
    width = max(sum(p.width for p in row) for row in rows)
    heights = [max(p.height for p in row) for row in rows]
    page = Image.new("RGBA", (width + 2 * margin, sum(heights) + 2 * margin), "white")
    top = margin
    for row, height in zip(rows, heights, strict=True):
        left = margin
        for image in row:
            page.alpha_composite(image, (left, top))
            left += image.width
        top += height
    return page


def _picture_rows(pictures: Sequence[Any]) -> list[list[Any]]:
    """Arrange pictures in rows that fit the width of the page."""
    rows: list[list[Any]] = []
    for picture in pictures:
        if rows and sum(p.width for p in rows[-1]) + picture.width <= PAGE_INCHES * SNAPSHOT_DPI:
            rows[-1].append(picture)
        else:
            rows.append([picture])
    return rows


def _text_image(lines: Sequence[str], *, sizes: Sequence[float], family: str) -> Any:
    heights = [1.45 * size / 72 for size in sizes]
    figure = Figure(figsize=(PAGE_INCHES, sum(heights) + 0.1))
    top = 1 - 0.05 / figure.get_figheight()
    for line, size, height in zip(lines, sizes, heights, strict=True):
        # dollar signs in names are not mathematics
        figure.text(0.005, top, line, fontsize=size, family=family, va="top", parse_math=False)
        top -= height / figure.get_figheight()
    return _rasterized(figure)


def marked(png: bytes, mark: str) -> bytes:
    """Insert a mark into the PNG as a text chunk, which does not change the picture."""
    return png[:PNG_HEADER_BYTES] + _text_chunk(mark) + png[PNG_HEADER_BYTES:]


def mark_in_base64(mark: str) -> str:
    """Return the letters that identify a marked PNG in base64."""
    chunk = _text_chunk(mark)
    return base64.b64encode(chunk[: len(chunk) // 3 * 3]).decode()


def _text_chunk(mark: str) -> bytes:
    body = b"tEXtdiffnb\x00" + mark.encode("latin-1")
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def alt_text(call: Call) -> str:
    """Describe the figure of a call."""
    doc = (call.function.__doc__ or "").strip().splitlines()
    return f"{doc[0] if doc else call.name} Drawn by {call.line()}"
