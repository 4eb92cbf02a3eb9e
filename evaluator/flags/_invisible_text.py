"""Text that a reader of the code does not see, or sees in another order than Python reads it in.

Bidirectional controls count anywhere: a comment or a literal is where they reorder the code beside it. Other unseen
characters count outside of literals and comments, where no program has a use for one, and anywhere where several stand
in a row, which is text that nobody is to see. A byte order mark at the start is no text.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from evaluator import invisible, syntax
from evaluator.flags._source import MAX_PARSED, shortened

_SEVERAL = 4
_BIDIRECTIONAL = re.compile(f"[{invisible.BIDIRECTIONAL}]")
_IN_A_ROW = re.compile(f"(?:{invisible.UNSEEN.pattern}){{{_SEVERAL},}}")
_BEFORE, _AFTER = 30, 60
_QUOTED = {"STRING", "COMMENT", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END", "TSTRING_MIDDLE"}

Span = tuple[tuple[int, int], tuple[int, int]]
"""From where to where: line from 1, column from 0."""


def evidence(code: str) -> list[str]:
    """The first place on each line that has such text, with marks in place of what is not seen."""
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
    """The literals and comments; of code that is no Python those up to the first fault."""
    found: list[Span] = []
    if len(code) > MAX_PARSED:
        return [((0, 0), (code.count("\n") + code.count("\r") + 2, 0))]
    readable = invisible.UNSEEN.sub("_", code)  # as many characters, and none that ends the tokenizer
    try:
        for token in tokenize.generate_tokens(io.StringIO(readable).readline):
            if tokenize.tok_name[token.type] in _QUOTED:
                found.append((token.start, token.end))
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
