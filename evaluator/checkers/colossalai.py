"""ColossalAI's code reward (`testing_util.py`, as of 2026-04), including its wrong passes.

Text. It accepts, in this order: the whole output, stripped; the same with each line stripped; the expected output's
lines stripped and without empty ones; the same without the output's empty lines; and, unless every line of both is only
digits, equally many lines that are all numbers, one per line, by numpy.allclose (relative 1e-5 of the expected one,
absolute 1e-8). So `-1000005` passes for `-1000000`. An output line ends where Python's `splitlines` splits.

Values. A tuple at the top counts as a list. It accepts what equals the expected value by `==`. If that is a list, it
also accepts what equals its first item, so that the first of three answers passes, even if its items are tuples instead
of lists. In an expected dict, or a dict that is a list's first item, keys that are digits become ints, and such a list
is reduced to that item. There is no tolerance; NaN equals nothing.

The grader `colossalai` uses the same, if it is not strict without the finer rules by which a wrong answer passes.
"""

from __future__ import annotations

import re
from itertools import islice

from evaluator.checkers._other_systems import near, same, text_refused, value_refused
from evaluator.checkers._walk import MORE_ITEMS
from evaluator.model import Difference

COMPARES = "both"

_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
"""numpy.allclose's own."""

_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_LINE = re.compile(f"[^{_LINE_ENDS}]+")
_INTEGER = re.compile(r"-?[0-9]+")


def check(expected: str, actual: str) -> Difference | None:
    """None when the cascade accepts the output."""
    return None if text_accepted(expected, actual, strict=True) else text_refused(expected, actual, "ColossalAI")


def check_value(expected: object, actual: object) -> Difference | None:
    """None when the cascade accepts the value."""
    return None if value_accepted(expected, actual, strict=True) else value_refused(expected, actual, "ColossalAI")


def text_accepted(expected: str, actual: str, *, strict: bool) -> bool:
    """Whether a program's output counts as the expected one. `strict`: by all rules of the original."""
    wanted = expected.strip()
    wanted_lines = [line.strip() for line in expected.split("\n") if line]
    room = 2 * expected.count("\n") + MORE_ITEMS
    lines = _lines_up_to(actual, room)
    inner = _lines_up_to(actual.strip(), room) if lines is None else lines
    if inner is not None and wanted in ("\n".join(inner).strip(), "\n".join(line.strip() for line in inner).strip()):
        return True
    got = _filled_lines(actual, len(wanted_lines) + 1) if lines is None else [line for line in lines if line]
    if wanted_lines in (lines, got):
        return True
    close = _all_close if strict else _each_close
    try:
        return len(got) == len(wanted_lines) and close(wanted_lines, got)
    except (ValueError, OverflowError):
        return False


def _lines_up_to(text: str, most: int) -> list[str] | None:
    """The lines by Python's `splitlines`; None if there are more than `most` and one, as there may be millions."""
    ends = sum(map(text.count, _LINE_ENDS)) - text.count("\r\n")
    return text.splitlines() if ends <= most else None


def _filled_lines(text: str, most: int) -> list[str]:
    """The first lines that are not empty."""
    return [found[0] for found in islice(_LINE.finditer(text), most)]


def value_accepted(expected: object, actual: object, *, strict: bool) -> bool:
    """Whether a function's result counts as the expected value, which was read from JSON."""
    wanted = _with_int_keys(expected, strict=strict)
    got = list(actual) if isinstance(actual, tuple) else actual
    if same(wanted, got):
        return True
    if not (isinstance(wanted, list) and _may_mean_its_first(wanted, strict=strict)):
        return False
    if same(wanted[0], got):
        return True
    if not (isinstance(got, list) and got and isinstance(got[0], tuple)):
        return False
    if not (isinstance(wanted[0], list) and len(wanted[0]) == len(got)):
        return False
    try:
        return same(wanted[0], [list(item) for item in got])
    except TypeError:
        return False


def _may_mean_its_first(expected: list[object], *, strict: bool) -> bool:
    return len(expected) >= 1 if strict else len(expected) == 1


def _with_int_keys(expected: object, *, strict: bool) -> object:
    """JSON turns a dict's int keys into text; for a dict, and for a list's first item, this turns them back."""
    if isinstance(expected, dict):
        return _wrapped(expected)
    if isinstance(expected, list) and _may_mean_its_first(expected, strict=strict) and isinstance(expected[0], dict):
        keyed = _wrapped(expected[0])
        return keyed if isinstance(keyed, list) else expected
    return expected


def _wrapped(value: dict[object, object]) -> object:
    try:
        return [{int(key): item for key, item in value.items()}]  # type: ignore[call-overload]
    except ValueError:
        return value


def _all_close(expected: list[str], actual: list[str]) -> bool:
    """As numbers with numpy.allclose's tolerance; never if all are digits, which were compared as text."""
    pairs = list(zip(expected, actual, strict=True))
    if all(one.isdigit() and other.isdigit() for one, other in pairs):
        return False
    return all(_close(float(one), float(other)) for one, other in pairs)


def _each_close(expected: list[str], actual: list[str]) -> bool:
    """Whole numbers must be the same; others as in `_all_close`."""
    return all(_equal(one, other) for one, other in zip(expected, actual, strict=True))


def _equal(expected: str, actual: str) -> bool:
    got = actual.strip()
    if expected == got:
        return True
    if (_INTEGER.fullmatch(expected) and _INTEGER.fullmatch(got)) or "_" in got:
        return False
    return _close(float(expected), float(got))


def _close(expected: float, actual: float) -> bool:
    return near(expected, actual, _RELATIVE, _ABSOLUTE)
