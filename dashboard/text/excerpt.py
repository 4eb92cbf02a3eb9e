"""Splits an output of which only head and tail were stored, so that the mark between them is not taken for output."""

from __future__ import annotations

import re
from typing import NamedTuple

GAP = "\n"
"""The place of the missing part among the lines. No line is equal to it, as none holds a newline."""

_CUT = re.compile(r"[ \n]\.\.\. ([\d,]+) characters left out \.\.\.[ \n]")
_LEAST_KEPT = 2_000
"""The fewest characters of head and tail together; in a shorter text, a program printed these words."""
_HEAD_TO_TAIL = (2, 3)
"""How many times longer than the tail the head may be."""


class Excerpt(NamedTuple):
    """The lines of an output without their newlines."""

    lines: list[str]
    gap: int | None = None
    """The index of `GAP`; None where the whole output was stored."""
    left_out: int = 0
    """Characters missing at `GAP`, with the partial lines on both sides of it."""
    characters: int = 0
    """The length of the whole output."""

    def number(self, index: int) -> int | None:
        """A line's number from 1; None after the gap, where it is not known."""
        return index + 1 if self.gap is None or index < self.gap else None


def taken_apart(text: str) -> Excerpt:
    """The lines of a text as stored in a run."""
    cut = next((found for found in _CUT.finditer(text) if _is_cut(text, found)), None)
    if cut is None:
        return Excerpt(split_lines(text), characters=len(text))
    head, tail = text[: cut.start()], text[cut.end() :]
    characters = len(head) + len(tail) + int(cut[1].replace(",", ""))
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :] or tail
    lines = split_lines(head)
    left_out = characters - len(head) - len(tail)
    return Excerpt([*lines, GAP, *split_lines(tail)], len(lines), left_out, characters)


def split_lines(text: str) -> list[str]:
    """Lines without their newline. Only "\\n" ends a line, so that a carriage return stays visible."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _is_cut(text: str, found: re.Match[str]) -> bool:
    head, tail = found.start(), len(text) - found.end()
    return head + tail >= _LEAST_KEPT and tail > 0 and head // tail in _HEAD_TO_TAIL
