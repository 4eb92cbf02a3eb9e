"""SandboxFusion's comparison of a program's output (469de08).

Both outputs are stripped as a whole. They must have equally many lines, except for one empty line at the end. A line is
right if it is equal once stripped and in lower case, or if both are one number each within 1e-5, relative to the
expected one.
"""

from __future__ import annotations

from evaluator.checkers._other_systems import close_numbers, first_difference
from evaluator.model import Difference

COMPARES = "text"


def check(expected: str, actual: str) -> Difference | None:
    """None when every line is the same but for case, or the same number within 1e-5."""
    return first_difference(expected, actual, _same_line)


def _same_line(expected: str, actual: str) -> bool:
    return expected.lower() == actual.lower() or close_numbers(expected, actual, 1e-5, 0.0)
