"""The public signatures, one per line: `python tests/public_api.py` writes them to tests/public_api.txt."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import diffnb as dn

SNAPSHOT = Path(__file__).with_name("public_api.txt")
SUBPACKAGES = ("datasets", "get", "panels", "pl", "pp", "report", "sklearn", "tl")


def signatures() -> Iterator[str]:
    """Yield the arguments of every public function, and the public methods of every class, without annotations."""
    for subpackage in SUBPACKAGES:
        module = getattr(dn, subpackage)
        for name in sorted(module.__all__):
            yield from _lines(f"{subpackage}.{name}", getattr(module, name))
    for name in sorted(vars(type(dn.settings))):
        if not name.startswith("_"):
            yield f"settings.{name}"


def _lines(name: str, value: object) -> Iterator[str]:
    yield f"{name}{_arguments(value)}"
    if isinstance(value, type):
        own = {method: function for method, function in vars(value).items() if inspect.isfunction(function)}
        yield from (f"{name}.{method}{_arguments(own[method])}" for method in sorted(own) if not method.startswith("_"))


def _arguments(value: object) -> str:
    given = inspect.signature(value).parameters.values()
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in given if p.name != "self"]
    return str(inspect.Signature(plain))


def text() -> str:
    """Return the snapshot."""
    return "".join(f"{line}\n" for line in signatures())


if __name__ == "__main__":
    SNAPSHOT.write_text(text(), encoding="utf-8")
    print(f"written: {SNAPSHOT}")
