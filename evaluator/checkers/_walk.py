"""Walks two values side by side to the first place where they differ.

The rule (`Rules`) decides what counts as equal; this module decides the order of the walk, paths, messages and limits.
It is iterative, so deep values cannot exhaust the stack.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count, islice
from typing import Any, NamedTuple

from evaluator.checkers._rendering import BRIEF_LIMIT, brief, first_of, message
from evaluator.checkers._text import common_prefix, excerpt
from evaluator.checkers._values import Family, family_of, holds_opaque, native_equal, why_no_data
from evaluator.model import Difference

MAX_DEPTH = 10_000
"""Levels of nesting. Deeper values count as different; Python's own `==` gives up at about 1,000."""
MAX_STEPS = 20_000_000
"""Items compared in one check. Above it the values count as different, and the message says why."""
MORE_ITEMS = 1_000
"""Without order, a side with over twice the expected items plus this many is not examined."""
MAX_SHIFTED = 100_000
"""Items of the longer of two sequences that are compared once more, to name the items that one of them lacks."""
MAX_NESTED = 20
"""Multisets inside multisets that are compared by walking."""
_PATH_LIMIT = 120
_COLLECTIONS = frozenset({Family.LIST, Family.TUPLE, Family.DEQUE, Family.SET})
_QUICK = frozenset({int, bool, str, type(None)})


Equal = Callable[[Any, Any], bool]
Keys = tuple[Iterable[tuple[Any, Any]], list[Any], list[Any]]
"""How the keys of two mappings are paired, in the order of expected; those missing, and those not expected."""


class Rules:
    """The decisions of a value checker. These are Python's."""

    mixed = False
    """Whether sequences of different types can be equal, and mappings are equal as dicts are."""
    sets_as_lists = False
    """Whether a set and a sequence can be equal, as multisets."""

    def same_scalar(self, expected: Any, actual: Any) -> bool:
        """Whether two values of the scalar family are equal."""
        return native_equal(expected, actual)

    def keys(self, expected: dict[Any, Any], actual: dict[Any, Any]) -> Keys:
        same = {key: key for key in expected if key in actual and not holds_opaque(key)}
        if len(same) == len(expected) == len(actual):
            return same.items(), [], []
        return same.items(), [key for key in expected if key not in same], [key for key in actual if key not in same]

    def unpaired(self, expected: Any, actual: Any, equal: Equal, /) -> tuple[list[Any], list[Any]]:
        """What is missing and not expected in two collections without order. `equal` compares items by a walk."""
        del equal
        return _without(expected, actual), _without(actual, expected)


def _without(items: Iterable[Any], others: Any) -> list[Any]:
    return [item for item in items if item not in others or holds_opaque(item)]


class _Fault(NamedTuple):
    """A difference found while listing the items of a collection; it takes the place of a pair.

    Its text names the item or the key, so that the path in front of it is the collection's.
    """

    text: str


_Pairs = Iterator[tuple[Any, Any, Any]]
"""(step of the path, expected, actual); a `_Fault` is expected if an item or key has no partner."""


class Walk:
    """One comparison, with its limits."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._steps = 0
        self._nested = 0

    def equal(self, expected: object, actual: object) -> bool:
        """For items of multisets. Too deeply nested multisets count as different, because each level uses stack."""
        if self._nested == MAX_NESTED:
            return False
        self._nested += 1
        try:
            return self.first_difference(expected, actual) is None
        finally:
            self._nested -= 1

    def first_unpaired(self, expected: object, actual: object) -> Difference | None:
        """As `first_difference`, but the order of the items of two collections does not count."""
        if not {family_of(expected), family_of(actual)} <= _COLLECTIONS:
            return self.first_difference(expected, actual)
        text = self._unpaired(expected, actual)
        return _difference([], text) if text else None

    def first_difference(self, expected: object, actual: object) -> Difference | None:
        """None when equal by the rules; raises nothing."""
        path: list[object] = []
        open_pairs: list[_Pairs] = [iter(((None, expected, actual),))]
        while open_pairs:
            for step, one, other in open_pairs[-1]:
                # Nearly all items of large values: two scalars of one type whose == can't have been replaced.
                if type(one) is type(other) and type(one) in _QUICK and one == other:
                    continue
                opened = self._opened(one, other)
                if opened is None:
                    continue
                if isinstance(opened, str):
                    found = _difference([*path[1:], step] if path else [], opened)
                    return found if type(one) is not _Fault else _named(path[1:], one.text, found)
                path.append(step)
                open_pairs.append(opened)
                break
            else:
                open_pairs.pop()
                if path:
                    path.pop()
            if len(path) > MAX_DEPTH:
                return _difference(path[1:], f"nested deeper than {MAX_DEPTH:,} levels: not compared")
        return None

    def _opened(self, expected: Any, actual: Any) -> str | _Pairs | None:
        """The difference here, the pairs to compare next, or None if the two are equal."""
        if type(expected) is _Fault:
            return expected.text
        wanted, got = family_of(expected), family_of(actual)
        if Family.OPAQUE in (wanted, got):
            return f"{_expected_got(expected, actual)}: {why_no_data(actual) or why_no_data(expected)}"
        if wanted is got is Family.SCALAR:
            return None if self._rules.same_scalar(expected, actual) else _scalar_text(expected, actual)
        if Family.SCALAR in (wanted, got):
            return _expected_got(expected, actual)
        self._steps += len(expected) + len(actual) + 1
        if self._steps > MAX_STEPS:
            return f"more than {MAX_STEPS:,} items: not compared"
        if wanted is got is Family.MAPPING:
            return self._mapping(expected, actual)
        if not (wanted is got or self._may_equal(wanted, got)):
            return _expected_got(expected, actual)
        if Family.SET in (wanted, got):
            return self._unpaired(expected, actual)
        return self._sequence(expected, actual)

    def _may_equal(self, wanted: Family, got: Family) -> bool:
        """Whether collections of these two different families can be equal."""
        if Family.MAPPING in (wanted, got):
            return False
        return self._rules.sets_as_lists if Family.SET in (wanted, got) else self._rules.mixed

    def _unpaired(self, expected: Any, actual: Any) -> str | None:
        if _is_crowd(expected, actual):
            return f"{len(expected):,} items expected, got {len(actual):,}"
        return _left_over(*self._rules.unpaired(expected, actual, self.equal))

    def _mapping(self, expected: dict[Any, Any], actual: dict[Any, Any]) -> str | _Pairs:
        kinds = set() if self._rules.mixed else {type(expected), type(actual)}
        counts = kinds == {Counter}
        if _is_crowd(expected, actual) and not counts:
            return f"{len(expected):,} keys expected, got {len(actual):,}"
        pairs, missing, extra = self._rules.keys(expected, actual)
        if kinds == {OrderedDict} and not missing and not extra and list(expected) != list(actual):
            return f"keys in another order: expected {brief(list(expected))}, got {brief(list(actual))}"
        both = ((got, expected[wanted], actual[got]) for wanted, got in pairs)
        if counts:  # in which a missing key is 0
            return chain(both, ((key, expected[key], 0) for key in missing), ((key, 0, actual[key]) for key in extra))
        return chain(
            both,
            ((key, _Fault(f"key {brief(key)} is missing: expected {brief(expected[key])}"), None) for key in missing),
            ((key, _Fault(f"key {brief(key)} is extra: got {brief(actual[key])}"), None) for key in extra),
        )

    def _sequence(self, expected: Any, actual: Any) -> _Pairs:
        """Item by item. If some items in a row are all that is missing or extra, these are the difference."""
        pairs = zip(count(), _items(expected), _items(actual), strict=False)
        wanted, got = len(expected), len(actual)
        if wanted == got:
            return pairs
        at = None if self._nested or max(wanted, got) > MAX_SHIFTED else self._shifted(expected, actual)
        if at is not None:
            return iter(((at, _unpaired_items(expected, actual, at), None),))
        at = min(wanted, got)
        return chain(pairs, ((at, _unpaired_items(expected, actual, at), None) for _ in (1,)))

    def _shifted(self, expected: Any, actual: Any) -> int | None:
        """Where the items begin without which the two sequences are equal; None if there is more to it."""
        pairs = enumerate(zip(_items(expected), _items(actual), strict=False))
        at = next((at for at, pair in pairs if not self._same(*pair)), min(len(expected), len(actual)))
        more = len(expected) - len(actual)
        rests = islice(_items(expected), at + max(more, 0), None), islice(_items(actual), at + max(-more, 0), None)
        return at if all(map(self._same, *rests)) else None

    def _same(self, one: object, other: object) -> bool:
        return (type(one) is type(other) and type(one) in _QUICK and one == other) or self.equal(one, other)


def _is_crowd(expected: Any, actual: Any) -> bool:
    """Whether there are so many more items than expected that it is not worth reporting which of them are wrong."""
    return len(actual) > 2 * len(expected) + MORE_ITEMS


def _unpaired_items(expected: Any, actual: Any, at: int) -> _Fault:
    """The items from `at` on by which one of two sequences is longer."""
    more = len(expected) - len(actual)
    last = at + abs(more) - 1
    side = list(islice(_items(expected if more > 0 else actual), at, last + 1))
    what = f"item {at:,} is" if last == at else f"items {at:,} to {last:,} are"
    got = brief(side[0]) if last == at else brief(side)
    return _Fault(f"{what} missing: expected {got}" if more > 0 else f"{what} extra: got {got}")


def _items(sequence: Any) -> Iterator[object]:
    """The items of a list, tuple or deque; for a namedtuple, without calling its class."""
    return tuple.__iter__(sequence) if isinstance(sequence, tuple) else iter(sequence)


def _left_over(missing: list[Any], extra: list[Any]) -> str | None:
    parts = []
    if missing:
        parts.append(f"missing {brief(first_of(missing))}{_more(missing)}")
    if extra:
        parts.append(f"{brief(first_of(extra))}{_more(extra)} not expected")
    return "; ".join(parts) or None


def _more(items: list[object]) -> str:
    return f" and {len(items) - 1:,} more" if len(items) > 1 else ""


def _expected_got(expected: object, actual: object) -> str:
    return f"expected {brief(expected)}, got {brief(actual)}"


def _scalar_text(expected: object, actual: object) -> str:
    if isinstance(expected, str) and isinstance(actual, str) and len(expected + actual) > BRIEF_LIMIT:
        at = common_prefix(expected, actual)
        return f"character {at + 1:,}: expected {excerpt(expected, at)}, got {excerpt(actual, at)}"
    return _expected_got(expected, actual)


def _difference(steps: list[object], text: str) -> Difference:
    path = _path(steps)
    return Difference(message(f"{path}: {text}" if path else text), path=path)


def _named(steps: list[object], text: str, found: Difference) -> Difference:
    """A fault's difference: its message has the collection's path, as its text names the item."""
    path = _path(steps)
    return Difference(message(f"{path}: {text}" if path else text), path=found.path)


def _path(steps: list[object]) -> str:
    path = "".join(f"[{brief(step, 40)}]" for step in steps)
    return path if len(path) <= _PATH_LIMIT else f"{path[: _PATH_LIMIT // 2]}...{path[-_PATH_LIMIT // 2 :]}"
