"""Small changes to a module, each of which a test should notice: comparisons, arithmetic, numbers, conditions, returns.

What no result depends on is left alone: annotations, docstrings, texts, messages of errors and warnings.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
#: calls whose arguments are words for people
MESSAGES = ("warn", "debug", "info", "warning", "cast", "TypeVar", "ParamSpec", "overload")


#: names of fields, and positions in lists, from the module to a node
Path = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Mutant:
    """A change of a module: where, what was there, and what is there now."""

    line: int
    before: str
    after: str
    path: Path
    replacement: ast.AST

    @property
    def change(self) -> str:
        """Say what is changed."""
        return f"`{_short(self.before)}` → `{_short(self.after)}`"

    def apply(self, text: str) -> str:
        """Return the changed module."""
        tree = ast.parse(text)
        _replace(tree, self.path, self.replacement)
        return ast.unparse(ast.fix_missing_locations(tree))


def mutants(text: str, /) -> list[Mutant]:
    """Return every mutant of a module."""
    tree = ast.parse(text)
    found = []
    for path in _paths(tree):
        node = _at(tree, path)
        for replacement in _replacements(node):
            before, after = ast.unparse(node), ast.unparse(ast.fix_missing_locations(replacement))
            if before != after:
                found.append(Mutant(getattr(node, "lineno", 0), before, after, path, replacement))
    return found


def _paths(node: ast.AST, path: Path = ()) -> Iterator[Path]:
    """Yield where the nodes are that may be changed."""
    if path:
        yield path
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "type_params", "ctx"):
            continue
        for position, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                yield from _paths(child, (*path, (name, position)))


def _is_left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Assign) and any(ast.unparse(target) in ("__all__", "__slots__") for target in node.targets):
        return True
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
        # names for types: Pair = tuple[int, int], Matrix = Dense | Sparse
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id[:1].isupper() and _is_of_types(node.value)
    return isinstance(node, ast.Call) and ast.unparse(node.func).rsplit(".", 1)[-1] in MESSAGES


def _is_of_types(node: ast.AST) -> bool:
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return bool(names) and all((name[:1].isupper() and not name.isupper()) or name in _TYPES for name in names)


_TYPES = ("tuple", "list", "dict", "int", "float", "str", "bool", "np", "npt", "sp")


def _at(tree: ast.AST, path: Path) -> ast.AST:
    for name, position in path:
        value = getattr(tree, name)
        tree = value if position is None else value[position]
    return tree


def _replace(tree: ast.AST, path: Path, replacement: ast.AST) -> None:
    *outer, (name, position) = path
    parent = _at(tree, tuple(outer))
    if position is None:
        setattr(parent, name, replacement)
    else:
        getattr(parent, name)[position] = replacement


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    for kind, changes in _CHANGES.items():
        if isinstance(node, kind):
            yield from changes(node)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for i, operator in enumerate(node.ops):
        if type(operator) in COMPARISONS:
            yield _with(node, ops=[*node.ops[:i], COMPARISONS[type(operator)](), *node.ops[i + 1 :]])


def _arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[ast.AST]:
    texts = (ast.JoinedStr, ast.Constant)
    if isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            if isinstance(side, ast.JoinedStr) or (isinstance(side, texts) and isinstance(side.value, str)):
                return
    if type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node.value, float):
        yield ast.Constant(node.value + 1 if node.value == 0 else node.value * 2)


def _boolean(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand


def _branch(node: ast.If | ast.IfExp | ast.While) -> Iterator[ast.AST]:
    if not isinstance(node.test, ast.Compare | ast.UnaryOp):  # those are changed by themselves
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.If) and not node.orelse and all(isinstance(each, ast.Raise) for each in node.body):
        yield ast.Pass()


def _statement(node: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Pass()


def _returned(node: ast.Return) -> Iterator[ast.AST]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield ast.Return(ast.Constant(None))


def _loop(node: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Break() if isinstance(node, ast.Continue) else ast.Continue()


_CHANGES: dict[type | tuple[type, ...], Callable[..., Iterator[ast.AST]]] = {
    ast.Compare: _compare,
    (ast.BinOp, ast.AugAssign): _arithmetic,
    ast.Constant: _constant,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _sign,
    (ast.If, ast.IfExp, ast.While): _branch,
    (ast.Expr, ast.AugAssign): _statement,
    ast.Return: _returned,
    (ast.Continue, ast.Break): _loop,
}


def _short(text: str) -> str:
    first, *more = text.splitlines()
    shown = first if not more else f"{first} …"
    return shown if len(shown) <= 90 else f"{shown[:89]}…"
