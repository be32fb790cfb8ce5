"""The import graph of the package, read from the sources without importing them, and the rules that it follows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "diffnb"

METHODS = frozenset({"disc", "sparda", "scorecard", "dufs", "mahalanobis", "preservation"})
#: subpackages of core that each subpackage of core may import, besides itself and `core.typing`
ALLOWED_IN_CORE: Mapping[str, frozenset[str]] = {
    "runtime": frozenset(),
    "arrays": frozenset({"runtime"}),
    "stats": frozenset({"runtime"}),
    "spectral": frozenset({"runtime", "arrays"}),
    **{method: frozenset({"runtime", "arrays", "spectral", "stats"}) for method in METHODS},
}
#: what each part of the package outside core may import, besides itself, core and modules like `diffnb._keys`
ALLOWED_ABOVE_CORE: Mapping[str, frozenset[str]] = {
    "get": frozenset(),
    "pp": frozenset(),
    "tl": frozenset({"get"}),
    "pl": frozenset({"get"}),
    "datasets": frozenset(),
    "report": frozenset({"get", "pl"}),
    "panels": frozenset({"tl", "get", "pl", "report"}),
    "sklearn": frozenset(),
    "cli": frozenset({"tl", "get", "report"}),
}
#: parts outside core that know arrays only, and no AnnData
ARRAYS_ONLY = frozenset({"sklearn", "_options"})
#: packages that the numerics do without
NOT_IN_CORE = frozenset({"anndata", "IPython", "ipywidgets", "anywidget", "matplotlib", "scanpy"})


@dataclass(frozen=True, order=True)
class Edge:
    """One import: both ends are dotted module names; `target` is outside the package for third parties."""

    source: str
    target: str

    @property
    def is_internal(self) -> bool:
        """Whether both ends lie in the package."""
        return self.target.partition(".")[0] == PACKAGE

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


@dataclass(frozen=True)
class ImportGraph:
    """Modules of the package, their files and every import in them."""

    files: Mapping[str, Path]
    edges: frozenset[Edge]

    @property
    def internal(self) -> list[Edge]:
        """Imports of one module of the package by another."""
        return sorted(edge for edge in self.edges if edge.is_internal)

    def imports_of(self, module: str) -> list[str]:
        """Return the modules of the package that a module imports."""
        return [edge.target for edge in self.internal if edge.source == module]


def read_import_graph(root: Path = ROOT) -> ImportGraph:
    """Parse every module of the package."""
    files = {module_name(path, root): path for path in sorted((root / PACKAGE).rglob("*.py"))}
    edges = {Edge(module, target) for module, path in files.items() for target in _targets(module, path, files.keys())}
    return ImportGraph(files, frozenset(edge for edge in edges if edge.source != edge.target))


def module_name(path: Path, root: Path = ROOT) -> str:
    """Return the dotted name of a file; a package has the name of its folder."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _targets(module: str, path: Path, known: Iterable[str]) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            for alias in node.names:
                submodule = f"{base}.{alias.name}"
                yield submodule if submodule in known else base


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if node.level == 0:
        return node.module or ""
    parents = package.split(".")
    anchor = parents[: len(parents) - node.level + 1]
    return ".".join([*anchor, node.module] if node.module else anchor)


# --- rules --------------------------------------------------------------------------------------------------------


def part_of(module: str) -> str:
    """Return the part of the package that holds a module: `core.disc`, `tl`, or the module itself at the top."""
    parts = module.split(".")
    if parts[1:2] == ["core"]:
        return ".".join(parts[1:3])
    return ".".join(parts[1:2])


def forbidden_edges(graph: ImportGraph) -> dict[Edge, str]:
    """Return the imports that break a rule, each with the rule."""
    broken = {edge: _broken_rule(edge, graph) for edge in sorted(graph.edges)}
    return {edge: rule for edge, rule in broken.items() if rule is not None}


def _broken_rule(edge: Edge, graph: ImportGraph) -> str | None:
    source = part_of(edge.source)
    if source.startswith("core"):
        return _broken_in_core(edge, source)
    target = part_of(edge.target) if edge.is_internal else edge.target.partition(".")[0]
    if source in ARRAYS_ONLY and target in ("anndata", "_anndata"):
        return f"{source} does without AnnData"
    if not edge.is_internal:
        return None
    method = target.removeprefix("core.")
    if method in METHODS and target.startswith("core.") and edge.target.count(".") > 2:
        return f"methods are imported through diffnb.core.{method}"
    if source in ALLOWED_ABOVE_CORE and target in ALLOWED_ABOVE_CORE.keys() - ALLOWED_ABOVE_CORE[source] - {source}:
        return f"{source} does not import {target}"
    return None


def _broken_in_core(edge: Edge, source: str) -> str | None:
    if not edge.is_internal:
        outside = edge.target.partition(".")[0]
        return f"core does without {outside}" if outside in NOT_IN_CORE else None
    target = part_of(edge.target)
    if not target.startswith("core"):
        return "core imports nothing from the rest of the package"
    if target in (source, "core.typing"):
        return None
    own, other = source.removeprefix("core."), target.removeprefix("core.")
    if other in ALLOWED_IN_CORE.get(own, frozenset()):
        return None
    return f"core.{own} does not import core.{other}"


def cycles(graph: ImportGraph) -> list[list[str]]:
    """Return groups of modules that import each other, directly or through others (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    targets = {module: graph.imports_of(module) for module in graph.files}

    def visit(module: str) -> None:
        index[module] = lowest[module] = len(index)
        stack.append(module)
        for target in targets.get(module, []):
            if target not in index:
                visit(target)
            if target in stack:
                lowest[module] = min(lowest[module], lowest[target])
        if lowest[module] == index[module]:
            start = stack.index(module)
            if len(stack) - start > 1:
                found.append(sorted(stack[start:]))
            del stack[start:]

    for module in graph.files:
        if module not in index:
            visit(module)
    return found
