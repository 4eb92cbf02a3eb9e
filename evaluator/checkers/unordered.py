"""The lines of `lines` as a multiset: their order does not count, but how often each occurs does.

Text. Each line is stripped, empty lines at the end are dropped; inner empty lines count like others. For an output with
far more lines than expected (over twice as many and 1,000) it reports only the extra line, not what is missing. With
`unordered:repeats=ignore` the lines are a set; an output with far more lines is wrong all the same.

Values. As `value`, with two exceptions. If the whole expected value is a list, its items count as a multiset, as do
those of the list, tuple, deque or set that it is compared with. And a set, at any depth, equals a list, tuple or deque
with the same items as a multiset. Lists inside it keep their order.
"""

from __future__ import annotations

from collections import Counter

from evaluator.checkers import value
from evaluator.checkers._rendering import message
from evaluator.checkers._text import content, excerpt, first_lines
from evaluator.checkers._walk import MORE_ITEMS, Walk
from evaluator.model import Difference

COMPARES = "both"


def check(expected: str, actual: str, *, repeats: bool = True) -> Difference | None:
    """None when both texts have the same lines in any order. `repeats`: whether it counts how often each occurs.

    Otherwise the position is that of the first line of the actual output that is not expected or is there once too
    often; if lines are only missing, it is the line after the last.
    """
    if expected == actual:
        return None
    wanted = _stripped(first_lines(content(expected), len(expected) + 1)[0])
    lines, rest = first_lines(content(actual), 2 * len(wanted) + MORE_ITEMS)
    got = _stripped(lines)
    if dict(Counter(wanted)) == dict(Counter(got)) and rest is None:
        return None
    extra = _first_surplus(got, wanted, repeats=repeats)
    missing = _first_surplus(wanted, got, repeats=repeats) if rest is None else None
    if extra is not None:
        known = "comes too often" if got[extra] in wanted else "is not expected"
        text = f"line {extra + 1}: {excerpt(got[extra])} {known}"
        if missing is not None:
            text += f"; missing {excerpt(wanted[missing])}"
        return Difference(message(text), line=extra + 1, column=1)
    if missing is not None:
        count = len(wanted) - len(got) if repeats else len({*wanted} - {*got})
        text = f"{count:,} {'line is' if count == 1 else 'lines are'} missing: {excerpt(wanted[missing])}"
        return Difference(message(text), line=len(got) + 1, column=1)
    return None if rest is None else Difference(f"more than {len(got):,} lines", line=len(got) + 1, column=1)


def check_value(expected: object, actual: object) -> Difference | None:
    """None when equal by these rules; else the first items without a partner, or the path to the first difference."""
    return Walk(_Rules()).first_unpaired(expected, actual)


class _Rules(value.ValueRules):
    sets_as_lists = True


def _stripped(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines]


def _first_surplus(lines: list[str], others: list[str], *, repeats: bool) -> int | None:
    """The index of the first line that occurs more often than in the others, at its first surplus occurrence."""
    allowed = Counter(others)
    for number, line in enumerate(lines):
        left = allowed.get(line, 0)
        if not left:
            return number
        allowed[line] = left - repeats
    return None
