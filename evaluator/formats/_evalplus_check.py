"""Writes the test code of an EvalPlus task. Its rows have inputs but no outputs: the test code runs the task's own
solution to get them. Its functions are named so that none is the one that is tested.

The rule is EvalPlus's. Equal is right. If the task allows a tolerance (`atol`), or the solution returns a float or
only floats (then 1e-6), numbers may differ by it plus 1e-7 of the expected one, in values of the same type, or an
int where a float is expected. A few tasks have several right answers and a rule of their own. Unlike in EvalPlus, a
tolerance does not carry over to the next inputs, and in a list it applies only to the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_LEAST_TOLERANCE = 1e-6
_MOST_PARTS = 16
_SHOWN_CHARACTERS = 500
"""How much of an input a failure shows."""

_MODULE = """\
import math
from copy import deepcopy
from math import inf, nan

ENTRY_POINT = {entry_point!r}
TOLERANCE = {tolerance!r}
SOLUTION = (
{solution})
BASE_INPUTS = [
{base}]
PLUS_INPUTS = [
{plus}]


def _outputs(inputs):
    names = {{"__name__": "solution"}}
    exec(SOLUTION, names)
    return [names[ENTRY_POINT](*deepcopy(arguments)) for arguments in inputs]


{accepts}

def _compare(candidate, inputs):
    for arguments, expected in zip(inputs, _outputs(inputs)):
        actual = candidate(*deepcopy(arguments))
        accepted = _accepts(actual, expected, arguments)
        if not accepted:
            call = ", ".join(map(repr, arguments))
            call = call if len(call) <= {shown} else call[:{shown}] + "..."
            assert actual == expected, "wrong for " + ENTRY_POINT + "(" + call + ")"
        assert accepted


{checks}"""

_CLOSE = f"""\
def _accepts(actual, expected, arguments):
    if actual == expected:
        return True
    tolerance = TOLERANCE or ({_LEAST_TOLERANCE!r} if _all_floats(expected) else 0)
    alike = type(actual) is type(expected) or isinstance(actual, int) and isinstance(expected, float)
    return bool(tolerance) and alike and _close(actual, expected, tolerance)


def _all_floats(value):
    items = value if isinstance(value, (list, tuple)) else [value]
    return bool(items) and all(isinstance(item, float) for item in items)


def _close(actual, expected, tolerance):
    if actual == expected:
        return True
    if isinstance(expected, (list, tuple)):
        same_length = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
        return same_length and all(_close(a, e, tolerance) for a, e in zip(actual, expected))
    if not isinstance(actual, (int, float, complex)) or not isinstance(expected, (int, float, complex)):
        return False
    return abs(expected) != math.inf and abs(actual - expected) <= tolerance + 1e-7 * abs(expected)
"""

_ROOT = """\
def _accepts(actual, expected, arguments):
    if not isinstance(actual, (int, float)):
        return False
    return abs(sum(factor * math.pow(actual, power) for power, factor in enumerate(arguments[0]))) <= TOLERANCE
"""
"""HumanEval/32: any root of the polynomial."""

_SAME_SET = """\
def _accepts(actual, expected, arguments):
    return set(actual) == set(expected)
"""

_FOUND = """\
def _accepts(actual, expected, arguments):
    found = expected is not None
    return (actual if isinstance(actual, bool) else actual is not None) == found
"""
"""A match object or a truth value."""

_ANYTHING = """\
def _accepts(actual, expected, arguments):
    return True
"""
"""Mbpp/164 is unclear and its tests contradict each other: the function only has to return."""

_OR_ZERO = """\
def _accepts(actual, expected, arguments):
    return actual == expected or actual == 0
"""
"""Mbpp/295: 1 has no divisor other than itself."""

_PYRAMID = """\
def _accepts(actual, expected, arguments):
    side, height = arguments
    slant = math.hypot(side / 2, height)
    return actual == expected or abs(actual - round(side**2 + 2 * side * slant)) <= TOLERANCE
"""
"""Mbpp/581: the height may be the slant one or the perpendicular one."""

_DIGITS = """\
def _accepts(actual, expected, arguments):
    one, other = map(str, arguments)
    width = max(len(one), len(other))
    pairs = zip(one.zfill(width), other.zfill(width))
    return actual == expected or actual == sum(abs(int(a) - int(b)) for a, b in pairs)
"""
"""Mbpp/558: digit by digit, or the digits of the difference."""

_RULES = {
    ("HumanEval", "find_zero"): _ROOT,
    ("Mbpp", "are_equivalent"): _ANYTHING,
    ("Mbpp", "sum_div"): _OR_ZERO,
    ("Mbpp", "surface_Area"): _PYRAMID,
    ("Mbpp", "digit_distance_nums"): _DIGITS,
    **dict.fromkeys(
        [
            ("Mbpp", name)
            for name in (
                "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
                "intersection_array", "find_dissimilar", "Diff",
            )
        ],
        _SAME_SET,
    ),
    **dict.fromkeys([("Mbpp", name) for name in ("check_str", "text_match_three", "text_starta_endb")], _FOUND),
}  # fmt: skip


def write_check(
    task_id: str, entry_point: str, solution: str, base: Sequence[str], plus: Sequence[str], tolerance: float
) -> str | None:
    """The source of a `check` that first tries the original's inputs, then EvalPlus's; None without any input.

    `solution` is a whole program, an input the source of a list of arguments.
    """
    constants = (("BASE_INPUTS", base), ("PLUS_INPUTS", plus))
    parts = [f"{name}[{part.start}:{part.stop}]" for name, inputs in constants for part in _parts(len(inputs))]
    if not parts:
        return None
    checks = "def check(candidate):\n" + "".join(f"    _compare(candidate, {part})\n" for part in parts)
    if entry_point == "check":  # the function that is tested
        checks = "".join(f"_compare(check, {part})\n" for part in parts)
    dataset = task_id.partition("/")[0]
    return _MODULE.format(
        entry_point=entry_point,
        tolerance=tolerance,
        solution="".join(f"    {line!r}\n" for line in solution.splitlines(keepends=True)),
        base=_lines(base),
        plus=_lines(plus),
        accepts=_RULES.get((dataset, entry_point), _CLOSE),
        shown=_SHOWN_CHARACTERS,
        checks=checks,
    )


def _parts(inputs: int) -> Iterator[range]:
    """Each is a test case, with limits of its own; EvalPlus has a limit for each input."""
    size = -(-inputs // _MOST_PARTS)
    yield from (range(start, min(start + size, inputs)) for start in range(0, inputs, size or 1))


def _lines(inputs: Sequence[str]) -> str:
    return "".join(f"    {arguments},\n" for arguments in inputs)
