"""ColossalAI's cascade of comparisons, the parts of which two checkers and a grader are made.

Source: its `testing_util.py`, as observed. Two sets of its finer rules are here: `ORIGINAL`, as they are, and `SOUND`,
without those by which a wrong answer passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from evaluator.checkers import python
from evaluator.checkers._other_systems import near
from evaluator.checkers._walk import MORE_ITEMS

_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
"""numpy.allclose's own."""

_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_LINE = re.compile(f"[^{_LINE_ENDS}]+")
_INTEGER = re.compile(r"-?[0-9]+")


@dataclass(frozen=True)
class Rules:
    """Where the two differ."""

    unwraps: Callable[[list[object]], bool]
    """Whether what is expected, a list, may stand for its first item."""
    close: Callable[[list[str], list[str]], bool]
    """Whether two lists of as many lines are equal as numbers, one a line. Raises `ValueError` for what is none."""


def text_accepted(expected: str, actual: str, rules: Rules) -> bool:
    """Whether a program's output counts as the expected one."""
    wanted = expected.strip()
    wanted_lines = [line.strip() for line in expected.split("\n") if line]
    room = 2 * expected.count("\n") + MORE_ITEMS
    lines = _lines_up_to(actual, room)
    inner = _lines_up_to(actual.strip(), room) if lines is None else lines
    if inner is not None and wanted in ("\n".join(inner).strip(), "\n".join(line.strip() for line in inner).strip()):
        return True
    given = _filled_lines(actual, len(wanted_lines) + 1) if lines is None else [line for line in lines if line]
    if wanted_lines in (lines, given):
        return True
    try:
        return len(given) == len(wanted_lines) and rules.close(wanted_lines, given)
    except (ValueError, OverflowError):
        return False


def _lines_up_to(text: str, most: int) -> list[str] | None:
    """The lines as Python's `splitlines` has them; None where there are more than `most`, and one: maybe millions."""
    ends = sum(map(text.count, _LINE_ENDS)) - text.count("\r\n")
    return text.splitlines() if ends <= most else None


def _filled_lines(text: str, most: int) -> list[str]:
    """The first lines that are not empty."""
    return [found[0] for found in islice(_LINE.finditer(text), most)]


def value_accepted(expected: object, actual: object, rules: Rules) -> bool:
    """Whether what a function gave counts as the expected value, which was read from JSON."""
    wanted = _with_int_keys(expected, rules)
    given = list(actual) if isinstance(actual, tuple) else actual
    if same(wanted, given):
        return True
    if not (isinstance(wanted, list) and wanted and rules.unwraps(wanted)):
        return False
    if same(wanted[0], given):
        return True
    if not (isinstance(given, list) and given and isinstance(given[0], tuple)):
        return False
    if not (isinstance(wanted[0], list) and len(wanted[0]) == len(given)):
        return False
    try:
        return same(wanted[0], [list(item) for item in given])
    except TypeError:
        return False


def _with_int_keys(expected: object, rules: Rules) -> object:
    """JSON makes texts of a dict's int keys: of a dict, and of a list's first item, they are made ints again."""
    if isinstance(expected, dict):
        return _wrapped(expected)
    if isinstance(expected, list) and expected and isinstance(expected[0], dict) and rules.unwraps(expected):
        keyed = _wrapped(expected[0])
        return keyed if isinstance(keyed, list) else expected
    return expected


def _wrapped(value: dict[object, object]) -> object:
    try:
        return [{int(key): item for key, item in value.items()}]  # type: ignore[call-overload]
    except ValueError:
        return value


def same(expected: object, actual: object) -> bool:
    """Python's `==`; what is no data equals nothing."""
    return python.check(expected, actual) is None


def _all_close(expected: list[str], actual: list[str]) -> bool:
    """Unless all are digits, as numbers with numpy.allclose's tolerance; then text has decided."""
    pairs = list(zip(expected, actual, strict=True))
    if all(one.isdigit() and other.isdigit() for one, other in pairs):
        return False
    return all(_close(float(one), float(other)) for one, other in pairs)


def _each_close(expected: list[str], actual: list[str]) -> bool:
    """Two whole numbers must be the same; others as in `_all_close`."""
    return all(_equal(one, other) for one, other in zip(expected, actual, strict=True))


def _equal(expected: str, actual: str) -> bool:
    given = actual.strip()
    if expected == given:
        return True
    if (_INTEGER.fullmatch(expected) and _INTEGER.fullmatch(given)) or "_" in given:
        return False
    return _close(float(expected), float(given))


def _close(expected: float, actual: float) -> bool:
    return near(expected, actual, _RELATIVE, _ABSOLUTE)


def _first_of_any(expected: list[object]) -> bool:
    return bool(expected)


def _first_of_one(expected: list[object]) -> bool:
    return len(expected) == 1


ORIGINAL = Rules(_first_of_any, _all_close)
SOUND = Rules(_first_of_one, _each_close)
