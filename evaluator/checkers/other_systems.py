"""Rules of other graders, mistakes included, and what else such a rule needs; `colossalai` has a module of its own.

- `livecodebench`: LiveCodeBench's `testing_util.py` (28fef95). Text: both outputs are stripped and split at line feeds;
  they must have equally many lines, including empty ones. A line is right if it is equal once stripped, or if all its
  tokens are numbers that are equal as decimals: `1.0` is `1`, `0.1` is not `0.10000001`. White space between other
  words counts. Values: a tuple at the top counts as a list; then Python's `==`. There is no tolerance, a tuple inside
  a list is not a list, and NaN equals nothing.
- `nemo_gym`: NeMo Gym's code_gen resource server, 0.7. Text: as `livecodebench`, but `YES` and `NO` are the same in
  upper and lower case, and two numbers, one of which has a point or an exponent, may differ by 1e-6, absolute or
  relative to the expected one. Values: a tuple at the top counts as a list; it accepts what is equal by `==`, has the
  same JSON text, or, if both are numbers, is close by numpy.allclose (relative 1e-5, absolute 1e-8).
- `sandbox_fusion`: SandboxFusion's (469de08). Text: both are stripped as a whole, and must have equally many lines. A
  line is right if it is equal once stripped and in lower case, or if both are one number each within 1e-5, relative to
  the expected one.
- `verl_sandbox_fusion`: verl's grader on top of SandboxFusion (b178a3cd5): the same text, line feeds at the end aside.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal

from evaluator.checkers import Checker, floats, python, value
from evaluator.checkers._rendering import brief, message
from evaluator.checkers._text import Spot, compare_lines, excerpt
from evaluator.checkers._values import size
from evaluator.model import Difference

_TOLERANCE = Decimal("1e-6")
_WORDS = ("yes", "no")

_SameLine = Callable[[str, str], bool]
_SameToken = Callable[[str, str, Decimal, Decimal], bool]


def _by_line(same_line: _SameLine) -> Callable[[str, str], Difference | None]:
    """None if both texts have equally many lines and each pair is equal, as stripped text or by `same_line`."""
    return lambda expected, actual: compare_lines(expected.strip(), actual.strip(), _spotter(same_line))


def _spotter(same_line: _SameLine) -> Callable[[str, str], Spot | None]:
    def spot(expected: str, actual: str) -> Spot | None:
        wanted, got = expected.strip(), actual.strip()
        return None if wanted == got or same_line(wanted, got) else Spot(0, excerpt(wanted), excerpt(got))

    return spot


def _same_tokens(expected: str, actual: str, same_token: _SameToken) -> bool:
    """Whether both lines have only numbers, equally many, and each pair is the same."""
    wanted = expected.split()
    got = actual.split(None, len(wanted))
    if len(wanted) != len(got):
        return False
    try:
        return all(same_token(one, other, Decimal(one), Decimal(other)) for one, other in zip(wanted, got, strict=True))
    except ArithmeticError:  # not a number, or one that can't be calculated with
        return False


def _same_decimals(expected: str, actual: str) -> bool:
    return _same_tokens(expected, actual, lambda _one, _other, wanted, got: wanted == got)


def _same_for_nemo_gym(expected: str, actual: str) -> bool:
    if expected.lower() in _WORDS and expected.lower() == actual.lower():
        return True
    return _same_tokens(expected, actual, _close_decimals)


def _close_decimals(expected: str, actual: str, wanted: Decimal, got: Decimal) -> bool:
    if wanted == got:
        return True
    if not any(mark in token.lower() for token in (expected, actual) for mark in ".e"):
        return False
    return wanted.is_finite() and got.is_finite() and abs(wanted - got) <= _TOLERANCE * max(abs(wanted), Decimal(1))


def _same_for_sandbox_fusion(expected: str, actual: str) -> bool:
    return expected.lower() == actual.lower() or _close(expected, actual, 1e-5, 0.0)


def _but_for_line_feeds(expected: str, actual: str) -> Difference | None:
    return None if expected.rstrip("\n") == actual.rstrip("\n") else text_refused(expected, actual, "verl")


def _livecodebench_value(expected: object, actual: object) -> Difference | None:
    return None if same(expected, with_list(actual)) else value_refused(expected, actual, "LiveCodeBench")


def _nemo_gym_value(expected: object, actual: object) -> Difference | None:
    got = with_list(actual)
    if same(expected, got) or _close(expected, got, 1e-5, 1e-8) or _same_json(expected, got):
        return None
    return value_refused(expected, actual, "NeMo Gym")


def _same_json(expected: object, actual: object) -> bool:
    try:
        if size(actual, room := size(expected)) > room:  # its JSON text differs, and may be very long
            return False
        return json.dumps(expected) == json.dumps(actual)
    except (TypeError, ValueError, RecursionError):
        return False


def _close(expected: object, actual: object, relative: float, absolute: float) -> bool:
    """Whether both are numbers, or text that is a number, within a tolerance like numpy.allclose's."""
    if not isinstance(expected, int | float | str) or not isinstance(actual, int | float | str):
        return False
    try:
        return near(float(expected), float(actual), relative, absolute)
    except (ValueError, OverflowError):
        return False


CHECKERS = (
    Checker("livecodebench", {"text": _by_line(_same_decimals), "value": _livecodebench_value}),
    Checker("nemo_gym", {"text": _by_line(_same_for_nemo_gym), "value": _nemo_gym_value}),
    Checker("sandbox_fusion", {"text": _by_line(_same_for_sandbox_fusion)}),
    Checker("verl_sandbox_fusion", {"text": _but_for_line_feeds}),
)


def text_refused(expected: str, actual: str, system: str) -> Difference:
    """Where they first differ line by line, or else that the system's rule refuses them although they are equal."""
    exact = compare_lines(expected, actual, _spotter(lambda _one, _other: False))
    if exact is not None and floats.check(expected, actual) is not None:
        return exact
    text = f"equal line by line or within 1e-6, but {system} refuses it"
    return Difference(message(text), line=exact.line if exact else 1, column=exact.column if exact else 1)


def value_refused(expected: object, actual: object, system: str) -> Difference:
    """As `text_refused`, for values."""
    found = value.check(expected, actual)
    text = f"equal as values, but {system} refuses it: expected {brief(expected)}, got {brief(actual)}"
    return found or Difference(message(text))


def with_list(value: object) -> object:
    """A tuple at the top as a list."""
    return list(value) if isinstance(value, tuple) else value


def same(expected: object, actual: object) -> bool:
    """Python's `==`; what is not data equals nothing."""
    return python.check(expected, actual) is None


def near(expected: float, actual: float, relative: float, absolute: float) -> bool:
    """As in numpy.allclose: relative to the expected one, infinities equal themselves, NaN equals nothing."""
    if math.isinf(expected) or math.isinf(actual):
        return expected == actual
    return abs(actual - expected) <= absolute + relative * abs(expected)
