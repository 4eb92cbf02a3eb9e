"""Python's `==` on values decoded by exact type, for extracted asserts.

`(1, 2) != [1, 2]`, `True == 1 == 1.0`, `Counter(a=1) == {'a': 1}`, `{1} == frozenset({1})`, a namedtuple equals the
tuple of its fields, the order of two `OrderedDict` counts, a missing key of two `Counter` is 0, `bytes` equal
`bytearray`, NaN equals nothing. What is not data (`evaluator.model.Opaque`, and any type that is not listed in
`_families`) equals nothing, not even itself.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from evaluator.checkers._families import holds_opaque
from evaluator.checkers._walk import Equal, Keys, Partners, Rules, Walk
from evaluator.model import Difference

COMPARES = "value"


def check(expected: object, actual: object) -> Difference | None:
    """None when `expected == actual` in Python; else the path to the first difference."""
    return Walk(_PythonRules()).first_difference(expected, actual)


class _PythonRules(Rules):
    def lack_zeros(self, expected: dict[Any, Any], actual: dict[Any, Any]) -> bool:
        return type(expected) is type(actual) is Counter

    def keys(self, expected: dict[Any, Any], actual: dict[Any, Any]) -> Keys:
        pairs = [(key, key) for key in expected if key in actual and not holds_opaque(key)]
        if len(pairs) == len(expected) == len(actual):
            ordered = type(expected) is type(actual) is OrderedDict
            return Keys(pairs, [], [], reordered=ordered and list(expected) != list(actual))
        if self.lack_zeros(expected, actual):
            return Keys(pairs, _counted(expected, actual), _counted(actual, expected), absent=0)
        return Keys(pairs, _without(expected, actual), _without(actual, expected))

    def partners(self, expected: Iterable[Any], actual: Iterable[Any], _equal: Equal) -> Partners:
        return list(_without(expected, actual)), list(_without(actual, expected))


def _counted(counts: dict[Any, Any], others: dict[Any, Any]) -> Iterator[object]:
    """The keys of a Counter that are missing in the other one, except those with 0."""
    return _without((key for key, count in counts.items() if type(count) is not int or count), others)


def _without(items: Iterable[Any], others: Any) -> Iterator[object]:
    return (item for item in items if item not in others or holds_opaque(item))
