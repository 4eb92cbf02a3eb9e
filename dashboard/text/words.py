"""Which words of two lines differ, and how two sequences are aligned."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Literal

from rapidfuzz.distance import Indel

from evaluator.checkers import common_prefix

MAX_CHARACTERS = 5_000
"""Characters of a pair of lines that are compared word by word, around their first difference."""
_WORD = re.compile(r"\d[\w.]*|\w+|.", re.DOTALL)
_LONG_WORD = 40

Span = tuple[str, bool]
"""A piece of a line, and whether it differs."""


def opcodes(
    left: Sequence[Hashable], right: Sequence[Hashable]
) -> Iterator[tuple[Literal["equal", "change"], int, int, int, int]]:
    """Equal runs and changed blocks; a deletion next to an insertion is one block, to be shown side by side."""
    head = shared_head(left, right)
    if head:
        yield "equal", 0, head, 0, head
    block: tuple[int, int, int, int] | None = None
    for op in Indel.opcodes(left[head:], right[head:]):
        i1, i2, j1, j2 = op.src_start + head, op.src_end + head, op.dest_start + head, op.dest_end + head
        if op.tag == "equal":
            if block:
                yield "change", *block
                block = None
            yield "equal", i1, i2, j1, j2
        else:
            block = (block[0], i2, block[2], j2) if block else (i1, i2, j1, j2)
    if block:
        yield "change", *block


def shared_head(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """How many lines are equal at the start."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


def changed_spans(a: str, b: str) -> tuple[list[Span], list[Span]]:
    """The words of two lines that differ. Long lines are compared only around their first difference."""
    left, right = _WORD.findall(a), _WORD.findall(b)
    head = shared_head(left, right)
    tail = shared_head(left[head:][::-1], right[head:][::-1])
    middles = left[head : len(left) - tail], right[head : len(right) - tail]
    shared = [("".join(left[:head]), False)], [("".join(left[len(left) - tail :]), False)]
    if len(middles[0]) == len(middles[1]) == 1 and min(len(middles[0][0]), len(middles[1][0])) >= _LONG_WORD:
        spans = _changed_letters(middles[0][0], middles[1][0])
    elif sum(len(word) for words in middles for word in words) > MAX_CHARACTERS:
        spans = [("".join(middles[0]), True)], [("".join(middles[1]), True)]
    else:
        spans = _changed_words(*middles)
    return _joined([*shared[0], *spans[0], *shared[1]]), _joined([*shared[0], *spans[1], *shared[1]])


def _changed_letters(one: str, other: str) -> tuple[list[Span], list[Span]]:
    """What is between the common start and the common end of two long words."""
    head = common_prefix(one, other)
    tail = common_prefix(one[head:][::-1], other[head:][::-1])
    left, right = (
        [(word[:head], False), (word[head : len(word) - tail], True), (word[len(word) - tail :], False)]
        for word in (one, other)
    )
    return left, right


def _changed_words(left: list[str], right: list[str]) -> tuple[list[Span], list[Span]]:
    spans: tuple[list[Span], list[Span]] = ([], [])
    for tag, i1, i2, j1, j2 in opcodes(left, right):
        spans[0].append(("".join(left[i1:i2]), tag == "change"))
        spans[1].append(("".join(right[j1:j2]), tag == "change"))
    return spans


def _joined(spans: list[Span]) -> list[Span]:
    """Without empty pieces, neighbours of one kind as one."""
    out: list[Span] = []
    for text, differs in spans:
        if text and out and out[-1][1] == differs:
            out[-1] = (out[-1][0] + text, differs)
        elif text:
            out.append((text, differs))
    return out
