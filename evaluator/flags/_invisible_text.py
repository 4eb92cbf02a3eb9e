"""Finds text that a reader of the code does not see, or sees in another order than Python does.

Bidirectional controls count everywhere: in a comment or literal they reorder the code next to it. Other invisible
characters count outside literals and comments, where no program needs them, and everywhere if there are several in a
row, which is hidden text. A byte order mark at the start does not count.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from evaluator import invisible, syntax
from evaluator.flags._parsed_code import MAX_PARSED, shortened

_SEVERAL = 4
_BIDIRECTIONAL = re.compile(f"[{invisible.BIDIRECTIONAL}]")
_IN_A_ROW = re.compile(f"(?:{invisible.UNSEEN.pattern}){{{_SEVERAL},}}")
_BEFORE, _AFTER = 30, 60
_QUOTED = {"STRING", "COMMENT", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END", "TSTRING_MIDDLE"}

Span = tuple[tuple[int, int], tuple[int, int]]
"""Start and end: line from 1, column from 0."""


def evidence(code: str) -> list[str]:
    """The first place on each line with such text, with marks in place of the invisible characters."""
    code = code.removeprefix("\ufeff")
    if code.isascii() or not invisible.UNSEEN.search(code):
        return []
    quoted = _quoted(code)
    found: list[str] = []
    for number, line in enumerate(syntax.lines_of(code), start=1):
        places = sorted(_places(line, number, quoted))
        if places:
            around = line[max(0, places[0] - _BEFORE) : places[0] + _AFTER]
            found.append(f"line {number}: {shortened(invisible.marked(around), 2 * _AFTER)}")
    return found


def _places(line: str, number: int, quoted: list[Span]) -> Iterator[int]:
    for pattern in (_BIDIRECTIONAL, _IN_A_ROW):
        yield from (match.start() for match in pattern.finditer(line))
    for match in invisible.UNSEEN.finditer(line):
        at = (number, match.start())
        if not any(start <= at < end for start, end in quoted):
            yield match.start()


def _quoted(code: str) -> list[Span]:
    """The literals and comments; in code that is not Python, those before the first error."""
    found: list[Span] = []
    if len(code) > MAX_PARSED:
        return [((0, 0), (code.count("\n") + code.count("\r") + 2, 0))]
    readable = invisible.UNSEEN.sub("_", code)  # of the same length, without characters that stop the tokenizer
    try:
        for token in tokenize.generate_tokens(io.StringIO(readable).readline):
            if tokenize.tok_name[token.type] in _QUOTED:
                found.append((token.start, token.end))
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
