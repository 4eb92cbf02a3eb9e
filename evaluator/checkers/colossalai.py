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

from evaluator.checkers._walk import MORE_ITEMS
from evaluator.checkers.other_systems import near, same, text_refused, value_refused, with_list
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
    try:
        return len(got) == len(wanted_lines) and _close_lines(wanted_lines, got, strict=strict)
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
    got = with_list(actual)
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
    wrapped = expected
    if isinstance(expected, list) and _may_mean_its_first(expected, strict=strict):
        wrapped = expected[0]
    if not isinstance(wrapped, dict):
        return expected
    try:
        return [{int(key): item for key, item in wrapped.items()}]
    except ValueError:
        return expected


def _close_lines(expected: list[str], actual: list[str], *, strict: bool) -> bool:
    """Whether all are numbers that are close. Raises `ValueError` if one is not a number.

    If strict, not where all are digits, which were compared as text; else whole numbers must be the same.
    """
    pairs = [(one, other.strip()) for one, other in zip(expected, actual, strict=True)]
    if strict:
        return not all(map(str.isdigit, (*expected, *actual))) and all(_close(*pair) for pair in pairs)
    return all(one == other or (_may_be_close(one, other) and _close(one, other)) for one, other in pairs)


def _may_be_close(expected: str, actual: str) -> bool:
    return "_" not in actual and not (_INTEGER.fullmatch(expected) and _INTEGER.fullmatch(actual))


def _close(expected: str, actual: str) -> bool:
    return near(float(expected), float(actual), _RELATIVE, _ABSOLUTE)
