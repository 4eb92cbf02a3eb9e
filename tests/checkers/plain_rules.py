"""The text rules once more, as plainly as their docstrings have them: everything is split, and nothing is bounded."""

import re
from collections import Counter
from fractions import Fraction
from itertools import zip_longest

Place = tuple[int, int]
"""Line and column, from 1, of the first difference."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INT = re.compile(r"[+-]?[0-9]+")


def stripped_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def lines_with_a_difference(expected: str, actual: str) -> list[int]:
    """From 1; where one text has more lines than the other, those count, too."""
    pairs = zip_longest(stripped_lines(expected), stripped_lines(actual))
    return [number for number, (one, other) in enumerate(pairs, 1) if one != other]


def tokens(expected: str, actual: str) -> Place | None:
    """An index of white space is where a missing token belongs: after the last character that is none."""
    wanted, given = expected.split(), [(found.start(), found[0]) for found in re.finditer(r"\S+", actual)]
    for number, token in enumerate(wanted):
        if number == len(given):
            return _place(actual, len(actual.rstrip()))
        if given[number][1] != token:
            return _place(actual, given[number][0])
    return _place(actual, given[len(wanted)][0]) if len(given) > len(wanted) else None


def floats(expected: str, actual: str) -> int | None:
    """The line, from 1, with the first difference."""
    pairs = zip_longest(stripped_lines(expected), stripped_lines(actual))
    return next((number for number, pair in enumerate(pairs, 1) if not _same_line(*pair)), None)


def unordered(expected: str, actual: str) -> Place | None:
    wanted, given = stripped_lines(expected), stripped_lines(actual)
    seen: Counter[str] = Counter()
    for number, line in enumerate(given, 1):
        seen[line] += 1
        if seen[line] > wanted.count(line):
            return number, 1
    return (len(given) + 1, 1) if len(wanted) > len(given) else None


def _same_line(expected: str | None, actual: str | None) -> bool:
    if expected is None or actual is None:
        return False
    wanted, given = expected.split(), actual.split()
    return expected == actual or (len(wanted) == len(given) and all(map(_same_token, wanted, given)))


def _same_token(expected: str, actual: str) -> bool:
    if expected == actual:
        return True
    if not (_NUMBER.fullmatch(expected) and _NUMBER.fullmatch(actual)):
        return False
    wanted, given = Fraction(expected), Fraction(actual)
    if _INT.fullmatch(expected):
        return wanted == given and not _INT.fullmatch(actual)
    # The rule reckons in doubles: what lies right at the tolerance is for neither side to say.
    return abs(wanted - given) <= Fraction(1, 10**6) * max(1, abs(wanted))


def _place(text: str, offset: int) -> Place:
    before = text[:offset].split("\n")
    return len(before), len(before[-1]) + 1
