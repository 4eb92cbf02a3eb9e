"""The form of a task's asserts: how they compare a call's answer, and how another one like them is written.

Literal asserts (`assert f(1) == 2`, `assert not f(3)`) and asserts around one call with literal arguments, such as
`assert set(f([1])) == {1}` and `assert abs(f(2) - 0.5) < 1e-6`, have a form. Tests are parsed, never run.
"""

from __future__ import annotations

import ast
import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from evaluator.checkers import get_checker
from evaluator.model import Task
from evaluator.strengthening.profile import Arguments
from evaluator.suites.reading import UngradableError
from evaluator.suites.reading.literal_calls import fold
from evaluator.syntax import tree_of

_WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = {
    "set": set, "sorted": sorted, "tuple": tuple, "list": list, "frozenset": frozenset, "len": len,
}  # fmt: skip
_DICTS: Final = (dict, Counter, OrderedDict, defaultdict)
_MOST_COMPARED: Final = 10_000
_MOST_BITS, _MOST_FRACTION_BITS = 4_000, 20
NOT_LITERAL: Final = (ValueError, KeyError, TypeError, ArithmeticError, RecursionError)
"""What reading a literal raises."""


class Form(NamedTuple):
    """How asserts compare: an answer, perhaps wrapped in a function, by `==`, within a tolerance, or by truth alone."""

    wrapper: str = ""
    relative: float = 0.0
    absolute: float = 0.0
    truth: bool = False

    @property
    def is_close(self) -> bool:
        """Whether it is within a tolerance."""
        return bool(self.relative or self.absolute)

    def equal(self, expected: Any, actual: Any) -> bool:
        """Whether an assert with this expected answer holds for another one."""
        if self.truth:
            return bool(expected) is bool(actual)
        try:
            if self.is_close:
                return math.isclose(actual, expected, rel_tol=self.relative, abs_tol=self.absolute)
            if self.wrapper:
                wrap = _WRAPPERS[self.wrapper]
                if max(len(expected), len(actual)) > _MOST_COMPARED:
                    return False
                expected, actual = wrap(expected), wrap(actual)
        except (TypeError, ValueError, OverflowError):
            return False
        return get_checker("python").rules["value"](expected, actual) is None

    def statement(self, call: str, expected: Any) -> str:
        """The source of such an assert."""
        if self.truth:
            return f"assert {call}" if expected else f"assert not {call}"
        if self.relative:
            within = f"rel_tol={self.relative}, abs_tol={self.absolute}"
            return f"assert math.isclose({call}, {expected!r}, {within})"
        if self.absolute:
            return f"assert abs({call} - {expected!r}) < {self.absolute}"
        return (
            f"assert {self.wrapper}({call}) == {self.wrapper}({expected!r})"
            if self.wrapper
            else f"assert {call} == {expected!r}"
        )


def end_of_check(task: Task) -> tuple[str, int, str]:
    """The name of the function in a test's `check`, the line after it, and the indentation there.

    Raises `UngradableError` if nothing can be added there.
    """
    tree = tree_of(task.test or "")
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"] if tree else []
    if not checks or not checks[-1].args.args or checks[-1].body[0].lineno == checks[-1].lineno:
        raise UngradableError("its test has no check(candidate)")
    last = checks[-1].body[-1]
    if isinstance(last, ast.Return):
        raise UngradableError("its check(candidate) returns")
    return checks[-1].args.args[0].arg, last.end_lineno or 0, " " * checks[-1].body[0].col_offset


def wrapped_calls(task: Task) -> Iterator[tuple[Form, Arguments, tuple[str, ...]]]:
    """The form, the arguments and the names of the last ones, of each assert around one literal call."""
    own = (end_of_check(task)[0], task.entry_point)
    tree = tree_of(task.test or "")
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Assert):
            continue
        inside = [part for part in ast.walk(node.test) if isinstance(part, ast.Call)]
        calls = [part for part in inside if isinstance(part.func, ast.Name) and part.func.id in own]
        form = _form_of(node.test, calls[0]) if len(calls) == 1 else None
        names = tuple(str(keyword.arg) for keyword in calls[0].keywords) if form else ()
        if form is not None and (arguments := literal_arguments(calls[0])) is not None:
            yield form, arguments, names


def literal_arguments(call: ast.Call) -> Arguments | None:
    """The values of a call's arguments, those by name last; None if one is no literal."""
    try:
        values = (*call.args, *(keyword.value for keyword in call.keywords))
        return tuple(argument for value in values for argument in _arguments(value))
    except NOT_LITERAL:
        return None


def _arguments(value: ast.expr) -> list[Any]:
    """The literal argument, or those of an unpacked list."""
    return list(fold(value.value, frozenset())) if isinstance(value, ast.Starred) else [fold(value, frozenset())]


def _form_of(test: ast.expr, call: ast.Call) -> Form | None:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()]) if left is call:
            return Form()
        case ast.Compare(left=ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]), ops=[ast.Eq()]):
            return Form(name) if inner is call and name in _WRAPPERS else None
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(left=inner, op=ast.Sub())]),
            ops=[ast.Lt() | ast.LtE()],
            comparators=[ast.Constant(value=float(most))],
        ):
            return Form(absolute=most) if inner is call else None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="math"), attr="isclose"), args=[inner, _], keywords=given
        ) if inner is call:
            values = {each.arg: each.value.value for each in given if isinstance(each.value, ast.Constant)}
            known = {name: float(value) for name, value in values.items() if isinstance(value, int | float)}
            return Form(relative=known.get("rel_tol", 1e-9), absolute=known.get("abs_tol", 0.0))
    return None


def is_data(value: Any, *, exact: bool) -> bool:
    """Whether it can be written. `exact`: as Python, where floats must be equal to the last bit; else as JSON."""
    inside = partial(is_data, exact=exact)
    match value:
        case bool() | None | str():
            return True
        case int():
            return value.bit_length() <= _MOST_BITS
        case float():  # with a short fraction every way to compute it gives the same
            return math.isfinite(value) and (not exact or (value * 2**_MOST_FRACTION_BITS).is_integer())
        case list() | tuple() if type(value) in (list, tuple):
            return all(map(inside, value))
        case bytes() | set() | frozenset():
            return exact and all(map(inside, value))
        case dict() if type(value) in _DICTS:
            return all(exact or type(key) is str for key in value) and all(map(inside, [*value, *value.values()]))
    return False


def plain(value: Any) -> Any:
    """An answer that `is_data`, as what its `repr` writes."""
    if type(value) in _DICTS:
        return {plain(key): plain(item) for key, item in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple, set, frozenset) else value
