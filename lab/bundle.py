"""Build the JupyterLab extension into diffnb/labextension, unless it is up to date.

A build takes minutes on a new machine, and the package is installed far more often than the extension changes.
Therefore the sources are hashed, and the hash is stored with the bundle: for the same sources nothing is built.

`hatch-jupyter-builder` calls `build`; the exit code of `python lab/bundle.py` is 0 if the bundle is up to date.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

LAB = Path(__file__).resolve().parent
NOTEBOOKS = LAB.parent / "notebooks"
# part of the package that is embedded in the extension
EMBEDDED = LAB.parent / "diffnb" / "_candidates.py"
BUNDLE = LAB.parent / "diffnb" / "labextension"
STAMP = LAB / ".built"
# what the build itself writes, and what the bundle does not depend on
EXCLUDED = {
    *("node_modules", "lib", "generated", "__pycache__", ".built", ".checked"),
    *("test", "biome.json", "tsconfig.panels.json"),
}


def sources() -> list[Path]:
    """Return the files under lab/ that the bundle is built from."""
    found = (path for path in LAB.rglob("*") if not EXCLUDED & set(path.relative_to(LAB).parts))
    return sorted(path for path in found if path.is_file())


def tutorials() -> list[tuple[str, str]]:
    """Return names and cells of the tutorials, without outputs, which are not part of the bundle."""
    found = []
    for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found.append((path.name, json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells])))
    return found


def fingerprint() -> str:
    """Hash everything that the bundle depends on."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(LAB).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update(EMBEDDED.read_bytes())
    for name, cells in tutorials():
        digest.update(f"{name}\0{cells}\0".encode())
    return digest.hexdigest()


def is_fresh() -> bool:
    """Return whether the bundle exists and was built from these sources."""
    if not (BUNDLE / "package.json").exists() or not STAMP.exists():
        return False
    return STAMP.read_text(encoding="utf-8").strip() == fingerprint()


def build(target_name: str, version: str, **options: object) -> None:
    """Build with npm where the sources have changed."""
    from hatch_jupyter_builder import npm_builder

    if is_fresh():
        return
    npm_builder(target_name, version, path=str(LAB), **options)
    if os.environ.get("HATCH_JUPYTER_BUILDER_SKIP_NPM") != "1":
        STAMP.write_text(fingerprint() + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(0 if is_fresh() else 1)
