"""Python's `==` on values decoded by exact type, for extracted asserts.

`(1, 2) != [1, 2]`, `True == 1 == 1.0`, `Counter(a=1) == {'a': 1}`, `{1} == frozenset({1})`, a namedtuple equals the
tuple of its fields, the order of two `OrderedDict` counts, a missing key of two `Counter` is 0, `bytes` equal
`bytearray`, NaN equals nothing. What is not data (`evaluator.model.Opaque`, and any type that is not listed in
`_values`) equals nothing, not even itself.
"""

from __future__ import annotations

from evaluator.checkers._walk import Rules, Walk
from evaluator.model import Difference

COMPARES = "value"


def check(expected: object, actual: object) -> Difference | None:
    """None when `expected == actual` in Python; else the path to the first difference."""
    return Walk(Rules()).first_difference(expected, actual)
