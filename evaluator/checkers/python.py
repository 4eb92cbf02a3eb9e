"""Python's `==` on values decoded by exact type, for extracted asserts.

`(1, 2) != [1, 2]`, `True == 1 == 1.0`, `Counter(a=1) == {'a': 1}`, `{1} == frozenset({1})`, a namedtuple
equals the tuple of its fields, two `OrderedDict` count their order, two `Counter` take a missing key for 0,
`bytes` equal `bytearray`, NaN equals nothing. What is no data (`evaluator.model.Opaque`, and any type that is
not listed in `_families`) equals nothing, not even itself.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Any, Literal

from evaluator.checkers._families import holds_opaque, native_equal
from evaluator.checkers._walk import Equal, Keys, Partners, Walk
from evaluator.model import Difference

COMPARES: Literal["value"] = "value"


def check(expected: object, actual: object) -> Difference | None:
    """None when `expected == actual` in Python; else the path to the first difference, found by walking."""
    return Walk(_PythonRules()).first_difference(expected, actual)


class _PythonRules:
    mixed = False

    def same_scalar(self, expected: Any, actual: Any) -> bool:
        return native_equal(expected, actual)

    def keys(self, expected: dict[Any, Any], actual: dict[Any, Any]) -> Keys:
        pairs = [(key, key) for key in expected if key in actual and not holds_opaque(key)]
        if len(pairs) == len(expected) == len(actual):
            ordered = type(expected) is type(actual) is OrderedDict
            return Keys(pairs, [], [], reordered=ordered and list(expected) != list(actual))
        missing = [key for key in expected if key not in actual or holds_opaque(key)]
        extra = [key for key in actual if key not in expected or holds_opaque(key)]
        counted = type(expected) is type(actual) is Counter
        return Keys(pairs, missing, extra, absent=0 if counted else None)

    def partners(self, expected: Iterable[Any], actual: Iterable[Any], _equal: Equal) -> Partners:
        return Partners(_without(expected, actual), _without(actual, expected))


def _without(items: Iterable[Any], others: Any) -> list[object]:
    return [item for item in items if item not in others or holds_opaque(item)]
