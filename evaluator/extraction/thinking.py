"""Tells an answer from the thinking before it: `<think>...</think>`, also with only the closing tag."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from evaluator.extraction.definitions import fits_and_parses
from evaluator.extraction.fences import fenced_blocks

_OPEN = re.compile(r"^[ \t]*<think(?:ing)?>", re.MULTILINE | re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_ORPHAN_CLOSE = re.compile(r"^[ \t]*</think(?:ing)?>|</think(?:ing)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MOST_LOOKED_AT = 8
"""Tags that may be part of code; each may take a parse."""


class Region(NamedTuple):
    """A part of the completion's text, and the line on which it begins."""

    text: str
    line: int


def has_thinking(text: str) -> bool:
    """Whether a tag may be there; it may be a part of code, too."""
    return bool(_OPEN.search(text) or _ORPHAN_CLOSE.search(text))


def without_thinking(text: str) -> tuple[list[Region], Region | None]:
    """The parts outside thinking sections, and the section without an end, if any."""
    is_code = _in_code(text)
    position = 0
    opening = _first(_OPEN, text, 0, is_code)
    orphan = _first(_ORPHAN_CLOSE, text, 0, is_code)
    if orphan and (opening is None or orphan.start() < opening.start()):
        position = orphan.end()
        opening = _first(_OPEN, text, position, is_code)
    regions: list[Region] = []
    line = 1 + text.count("\n", 0, position)
    while opening:
        regions.append(Region(text[position : opening.start()], line))
        line += text.count("\n", position, opening.start())
        closing = _CLOSE.search(text, opening.end())
        if closing is None:
            return regions, Region(text[opening.end() :], line)
        line += text.count("\n", opening.start(), closing.end())
        position = closing.end()
        opening = _first(_OPEN, text, position, is_code)
    return [*regions, Region(text[position:], line)], None


def _first(tag: re.Pattern[str], text: str, start: int, is_code: Callable[[int], bool]) -> re.Match[str] | None:
    found: Iterator[re.Match[str]] = tag.finditer(text, start)
    for match in islice(found, _MOST_LOOKED_AT):
        if not is_code(text.count("\n", 0, match.end()) + 1):
            return match
    return next(found, None)


def _in_code(text: str) -> Callable[[int], bool]:
    """Whether a line is in a fenced block that parses as it is: a tag there is in a comment or a string."""

    @cache
    def spans() -> list[tuple[int, int]]:
        return [
            (block.line, block.line + block.text.count("\n"))
            for block in islice(reversed(fenced_blocks(text)), _MOST_LOOKED_AT)
            if "think" in block.text.lower() and fits_and_parses(block.text)
        ]

    return lambda line: any(first <= line <= last for first, last in spans())
