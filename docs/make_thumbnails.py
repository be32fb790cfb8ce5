"""Make a picture of every tutorial from one of its own figures: `python docs/make_thumbnails.py`.

The pictures are those of the gallery in docs/tutorials/index.md. They are taken from the outputs that the notebooks
store, so the notebooks are executed first.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path

import nbformat
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
THUMBNAILS = ROOT / "docs" / "images"
#: which figure of a notebook represents it, counted from 0; the last one of all others
FIGURES = {
    "00_quickstart": 1,
    "01_scrna": 2,
    "02_fmri": 3,
    "03_hyperspectral": 2,
    "04_mnist": 1,
    "05_patients": 0,
    "06_large": 1,
    "07_paper": 2,
}
SIZE = (360, 220)


def pictures(path: Path) -> list[bytes]:
    """Return the figures that a notebook stores, in order."""
    cells = nbformat.read(path, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    stored = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(picture) for picture in stored]


def thumbnail(picture: bytes) -> Image.Image:
    """Fit a figure into the size of a thumbnail, on white."""
    image = Image.open(io.BytesIO(picture)).convert("RGBA")
    image.thumbnail(SIZE, Image.Resampling.LANCZOS)
    page = Image.new("RGB", SIZE, "white")
    page.paste(image, ((SIZE[0] - image.width) // 2, (SIZE[1] - image.height) // 2), image)
    return page


if __name__ == "__main__":
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        chosen = pictures(path)[FIGURES.get(path.stem, -1)]
        thumbnail(chosen).quantize(64).save(THUMBNAILS / f"tutorial_{path.stem}.png", optimize=True)
        print(path.stem)
