"""Figures as images within the page."""

from __future__ import annotations

import base64
import io
from typing import Any

import matplotlib as mpl
from anndata import AnnData
from matplotlib.figure import Figure

from .._calls import Call
from ..pl._canvas import off_screen

#: a vector image that is larger is drawn as pixels
MAX_SVG_BYTES = 200_000
PNG_DPI = 150
MAX_PNG_BYTES = 400_000
#: lower resolutions for figures with very many points
PNG_DPIS = (PNG_DPI, 110, 80)


def image_url(call: Call, adata: AnnData) -> str:
    """Draw a figure and return it as a `data:` URL."""
    with mpl.rc_context({"savefig.facecolor": "white", "svg.fonttype": "path"}), off_screen():
        drawn = call.run(adata)
        figure: Any = drawn if isinstance(drawn, Figure) else drawn.figure
        svg = _saved(figure, format="svg", metadata={"Date": None})
        if len(svg) <= MAX_SVG_BYTES:
            return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
        for dpi in PNG_DPIS:
            png = _saved(figure, format="png", dpi=dpi)
            if len(png) <= MAX_PNG_BYTES:
                break
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _saved(figure: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, bbox_inches="tight", **options)
    return file.getvalue()
