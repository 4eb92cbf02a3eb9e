"""A completion's code for the flags: parsed once, with its names traced to their imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Protocol, TypeGuard

from evaluator import syntax

MAX_PARSED = 100_000
"""Characters; longer code is not parsed."""

_DEEPEST_NAME = 8
"""Parts of a dotted name that are followed; no module is nested deeper."""
_SHOWN_LINE = 100
_FILENAME = "<completion>"
_OPEN_TO_STARS = ("ctypes", "gc", "inspect", "os", "sys")


class ParsedCode:
    """The code of a completion. Nothing of it is run."""

    def __init__(self, code: str, *, main_runs: bool) -> None:
        """`main_runs`: whether the code under `if __name__ == "__main__"` runs at all."""
        self._code = code
        self._main_runs = main_runs

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node that may run, also in strings for `exec` and `eval`; none if the code is not Python."""
        tree = parsed(self._code)
        if tree is None:
            return []
        found = list(walk(tree, self._main_runs))
        for node in found[:]:
            found.extend(_executed_text(node))
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """Name in the code -> dotted name of its import."""
        found: dict[str, str] = {"__builtins__": "builtins"}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        return found

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names that the code itself binds: arguments, variables, functions, classes."""
        found: set[str] = set()
        for node in self.nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.add(name)
        return frozenset(found)

    @cached_property
    def named(self) -> list[tuple[ast.expr, str]]:
        """Every expression that refers to something imported, with its dotted name."""
        kinds = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
        found = [(node, self.dotted(node)) for node in self.nodes if isinstance(node, kinds)]
        return [(node, name) for node, name in found if name]

    def dotted(self, node: ast.expr, depth: int = _DEEPEST_NAME) -> str:
        """The dotted name of what an expression refers to; empty if that is not imported."""
        if depth == 0:
            return ""
        match node:
            case ast.Name(id=name):
                return self.imports.get(name) or self._starred(name)
            case ast.Call(func=ast.Name(id="vars"), args=[inner]):
                return _joined(self.dotted(inner, depth - 1), "__dict__")
            case ast.Call(func=function, args=[ast.Constant(value=str(module)), *_]):
                return module if self._imports(function, depth) else ""
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                return _item(self.dotted(inner, depth - 1), key)
        attribute = attribute_of(node)
        return _joined(self.dotted(attribute[0], depth - 1), attribute[1]) if attribute else ""

    def evidence(self, line: int) -> str:
        """A line's number, from 1, and its text, shortened."""
        return f"line {line}: {shortened(self._lines[line - 1])}"

    @cached_property
    def _lines(self) -> list[str]:
        return syntax.lines_of(self._code)

    def _starred(self, name: str) -> str:
        star = self.imports.get("*", "").removesuffix(".*")
        return f"{star}.{name}" if star in _OPEN_TO_STARS and name not in self.bound else ""

    def _imports(self, function: ast.expr, depth: int) -> bool:
        if isinstance(function, ast.Name) and function.id == "__import__":
            return True
        return self.dotted(function, depth - 1) in ("importlib.import_module", "builtins.__import__")


Finder = Callable[[ParsedCode], Iterable[int]]
"""Yields the lines of the code, from 1, that show a flag."""


class Finders(Protocol):
    """A module that looks for flags."""

    FINDERS: dict[str, Finder]
    """By the flag's word."""

    def may_occur(self, code: str) -> bool:
        """Whether the code has a word without which none of them can occur. Takes microseconds."""


def parsed(code: str) -> ast.Module | None:
    """The code's syntax tree; None if it is not Python, or too long."""
    return None if len(code) > MAX_PARSED else syntax.tree_of(code, _FILENAME)


def walk(node: ast.AST, main_runs: bool) -> Iterator[ast.AST]:
    """`ast.walk`, without the code under `if __name__ == "__main__"` unless it runs."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if not main_runs and is_main_guard(current):
            pending.extend(current.orelse)
        else:
            pending.extend(ast.iter_child_nodes(current))


def is_main_guard(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether it is `if __name__ == "__main__"`."""
    match node:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant()])):
            return True
        case ast.If(test=ast.Compare(left=ast.Constant(), ops=[ast.Eq()], comparators=[ast.Name(id="__name__")])):
            return True
    return False


def attribute_of(node: ast.AST) -> tuple[ast.expr, str] | None:
    """The object and the name of an attribute access, also by `getattr` with a literal name."""
    match node:
        case ast.Attribute(value=inner, attr=name):
            return inner, name
        case ast.Call(func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(name)), *_]):
            return inner, name
    return None


def shortened(text: str, room: int = _SHOWN_LINE) -> str:
    """The text as one line of at most `room` characters."""
    flat = " ".join(text[: 4 * room].split())
    return flat if len(flat) <= room else flat[: room - 3] + "..."


def _joined(inner: str, name: str) -> str:
    if inner.endswith(".__dict__"):
        return ""
    return f"{inner}.{name}" if inner else ""


def _item(inner: str, key: str) -> str:
    if inner == "sys.modules":
        return key
    if inner == "builtins":  # outside `__main__`, `__builtins__` is the module's dict
        return f"builtins.{key}"
    return f"{inner.removesuffix('.__dict__')}.{key}" if inner.endswith(".__dict__") else ""


def _executed_text(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a string passed to `exec`, `eval` or `compile`, with the line of the call."""
    match node:
        case ast.Call(
            func=ast.Name(id="exec" | "eval" | "compile"), args=[ast.Constant(value=str(text)), *_], lineno=line
        ):
            tree = parsed(text)
            for inner in ast.walk(tree) if tree is not None else ():
                if hasattr(inner, "lineno"):
                    inner.lineno = line
                yield inner
