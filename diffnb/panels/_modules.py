"""JavaScript modules of the views, as anywidget takes them.

The views in `static/` are ES modules that import each other, and they run as they are written: there is no bundle to
build, so none can be stale, and an editable install shows what was edited. But anywidget sends one text per widget
and imports it from a `blob:` URL, where a relative import resolves to nothing. Therefore a widget is sent with all
modules that its entry imports, and `static/loader.js` gives each of them a `blob:` URL of its own. Pages that forbid
such URLs could not show any widget of anywidget; `data:` URLs, in contrast, are refused by some of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

STATIC = Path(__file__).resolve().parent / "static"

#: the only form of import in `static/`: of names, from a relative path, ending a line
_IMPORT = re.compile(r"^(?:import\b|\})[^'\n]* from '(\.{1,2}/[^']+)';$", re.MULTILINE)

#: comments that fill their lines: half of the text, and of no use to a browser
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)\n+", re.MULTILINE | re.DOTALL)


def esm(entry: str) -> str:
    """Return a module that loads `entry`, a file in `static/`, with everything that it imports."""
    modules: dict[str, dict[str, object]] = {}
    _collect(STATIC / entry, modules)
    loader = _COMMENT.sub("", (STATIC / "loader.js").read_text(encoding="utf-8"))
    return f"{loader}\nexport default await load({json.dumps(list(modules.values()))});\n"


def css(*names: str) -> str:
    """Return style sheets of `static/` as one."""
    return "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


def _collect(path: Path, modules: dict[str, dict[str, object]], importing: tuple[str, ...] = ()) -> None:
    """Add a module to `modules`, after those that it imports."""
    name = path.relative_to(STATIC).as_posix()
    if name in importing:  # a module must have its URL before another can import it
        raise ImportError(f"Modules of a view import each other: {' → '.join([*importing, name])}.")
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    imported = {specifier: (path.parent / specifier).resolve() for specifier in _IMPORT.findall(text)}
    for other in imported.values():
        if other.relative_to(STATIC).as_posix() not in modules:
            _collect(other, modules, (*importing, name))
    imports = {specifier: other.relative_to(STATIC).as_posix() for specifier, other in imported.items()}
    modules[name] = {"name": name, "text": text, "imports": imports}
