"""Which statements of a check judge, and which only prepare what is judged."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict

from evaluator.graders._check_reading import Reading
from evaluator.graders._check_source import walk, walk_executed

_MUTATORS = frozenset(
    """add append appendleft clear close discard difference_update extend extendleft flush insert intersection_update
    move_to_end pop popitem popleft put remove reverse rotate seed seek setdefault shuffle sort subtract truncate update
    write writelines""".split()
)
"""Methods that change data and compare nothing."""
_LIBRARIES = frozenset(("matplotlib", "numpy", "pandas", "scipy"))
_JUDGING_MODULES = frozenset(("doctest", "pytest", "test", "unittest"))


class Judging:
    """Tells statements apart; one for each test."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        own = {name for node in reading.nodes for name in self._if_it_asserts(node)}
        self._asserting = reading.flow.reaching(own)
        self._assigned: dict[str, list[ast.expr]] = defaultdict(list)
        for node in reading.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assigned[name].append(value)

    def judges(self, node: ast.stmt) -> bool:
        """Whether the statement may say that the completion is wrong, beside by an exception that it lets through."""
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Delete() | ast.Global() | ast.Nonlocal():
                return False
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return False
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return False
            case ast.Assert(test=ast.Constant(value=value)):
                return not value
            case ast.Expr(value=value):
                return not self._only_prepares(value)
            case _:
                return True

    def uses_completion(self, node: ast.AST) -> bool:
        """Whether the completion may be called, or what it has made be used."""
        return not self._reading.in_touch.isdisjoint(self._reading.reads(node))

    def asks_completion(self, node: ast.stmt) -> bool:
        """Whether that happens when the statement is run, not only in what it defines."""
        return any(isinstance(part, ast.Name) and part.id in self._reading.in_touch for part in walk_executed(node))

    def _only_prepares(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Constant | ast.Name):
            return True
        if not isinstance(value, ast.Call) or not self._asserting.isdisjoint(self._reading.reads(value)):
            return False
        if any(isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for part in walk(value)):
            return False
        match value.func:
            case ast.Name(id=name) if name in self._reading.completion:
                return not name.startswith("assert")
            case ast.Name(id="print"):
                return "print" not in self._reading.scopes.defined()
        dotted = self._reading.imports.dotted(value.func)
        if dotted:
            return _is_of_library(dotted)
        match value.func:
            case ast.Attribute(value=ast.Name(id=owner), attr=method):
                return method in _MUTATORS or self._is_made_by_completion(owner)
        return False

    def _is_made_by_completion(self, owner: str) -> bool:
        """Whether the name stands for nothing but objects that a call of the completion has returned."""
        made = self._assigned.get(owner, [])
        return bool(made) and all(
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in self._reading.completion
            for value in made
        )

    def _if_it_asserts(self, node: ast.AST) -> list[str]:
        """The name of a function or class of the test that has an assert of its own in it."""
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                return [name] if any(map(self._asserts, walk(node))) else []
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                return [name] if any(map(self._asserts, walk(value))) else []
            case _:
                return []

    def _asserts(self, node: ast.AST) -> bool:
        match node:
            case ast.Assert() | ast.Raise():
                return True
            case ast.Attribute(attr=name) if name.startswith(("assert", "fail")):
                return True
            case ast.Name(ctx=ast.Load()):
                return not _is_of_library(self._reading.imports.dotted(node), known=True)
            case _:
                return False


def _is_of_library(dotted: str, *, known: bool = False) -> bool:
    """Whether it is a function of a library that judges nothing. `known`: what is imported from elsewhere is not."""
    parts = dotted.split(".")
    if parts[0] in _JUDGING_MODULES or any(part == "testing" or part.startswith("assert") for part in parts):
        return False
    return known or parts[0] in sys.stdlib_module_names or parts[0] in _LIBRARIES
