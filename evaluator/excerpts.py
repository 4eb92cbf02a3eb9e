"""What is kept of long expected and actual outputs: the part around their first difference, the same of both."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evaluator.cases import SHOWN_WHEN_WRONG
from evaluator.checkers import common_prefix, render
from evaluator.model import CaseResult, Difference, Excerpt

_BEFORE = 4
"""One of so many parts of the room is for what is before the difference."""
_MOST_ITEMS = 8_192
_LONGEST = 1024 * 1024
_FIRST_STEP = re.compile(r"\[(\d+)\]")


def keep_texts(result: CaseResult, expected: str, actual: str, room: int = SHOWN_WHEN_WRONG) -> None:
    """Sets both sides, of long ones the lines around the checker's first difference, else around the texts' own."""
    result.expected, result.actual = expected, actual
    if max(len(expected), len(actual)) <= room:
        return
    line = result.difference.line if result.difference else None
    same = common_prefix(expected, actual)
    line = line or expected.count("\n", 0, same) + 1
    first = max(_first_line(text, line, room // _BEFORE) for text in (expected, actual))
    sides = [_lines(text, first, line, room) for text in (expected, actual)]
    if None in sides:
        start = max(0, same - room // _BEFORE)
        kept = [text[start : start + room] for text in (expected, actual)]
        places = [(min(start, len(text)), len(text)) for text in (expected, actual)]
        result.excerpt = Excerpt("character", places[0], places[1])
    else:
        (one, *ours), (other, *theirs) = (side for side in sides if side is not None)
        kept = [one, other]
        result.excerpt = Excerpt("line", (ours[0], ours[1]), (theirs[0], theirs[1]))
    result.expected, result.actual = kept


def keep_values(result: CaseResult, expected: object, actual: object, room: int = SHOWN_WHEN_WRONG) -> None:
    """Sets both sides as Python writes them; of long lists the items around the first difference."""
    texts = render(expected, _LONGEST), render(actual, _LONGEST)
    if max(map(len, texts)) > room and isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        at = _first_item(result.difference, expected, actual)
        count = _MOST_ITEMS
        while count:
            start = max(0, at - count // _BEFORE)
            kept = [render(side[start : start + count], _LONGEST) for side in (expected, actual)]
            if max(map(len, kept)) <= room:
                result.expected, result.actual = kept
                sides = [(min(start, len(side)), len(side)) for side in (expected, actual)]
                result.excerpt = Excerpt("item", sides[0], sides[1])
                return
            count //= 2
    keep_texts(result, *texts, room)


def _first_item(difference: Difference | None, expected: Sequence[object], actual: Sequence[object]) -> int:
    step = _FIRST_STEP.match(difference.path or "") if difference else None
    return int(step[1]) if step else min(len(expected), len(actual))


def _first_line(text: str, line: int, before: int) -> int:
    """The number of the first line of a part that begins at most `before` characters before a line."""
    at = _offset(text, line)
    start = 0 if at <= before else text.find("\n", at - before, at) + 1 or at
    return text.count("\n", 0, start) + 1


def _lines(text: str, first: int, line: int, room: int) -> tuple[str, int, int] | None:
    """Whole lines from `first` on, how many are before them, and of how many; None if `line` does not fit."""
    start = _offset(text, first)
    end = len(text) if len(text) - start <= room else text.rfind("\n", start, start + room) + 1
    if end <= start < len(text) or end < min(_offset(text, line + 1), len(text)):
        return None
    return text[start:end], text.count("\n", 0, start), text.count("\n") + (not text.endswith("\n"))


def _offset(text: str, line: int) -> int:
    """Where a line begins; the text's end if it has fewer lines."""
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    return at
