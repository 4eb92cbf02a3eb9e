"""Extractors that other graders use, to see whose reward depends on one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluator.extraction.fences import Block, fenced_blocks
from evaluator.extraction.program import outside_thinking


def _last(blocks: list[Block]) -> Block:
    return blocks[-1]


def _first(blocks: list[Block]) -> Block:
    return blocks[0]


def _longest(blocks: list[Block]) -> Block:
    return max(blocks, key=lambda block: len(block.text))


_BLOCKS: Mapping[str, Callable[[list[Block]], Block]] = {
    "last block": _last,
    "first block": _first,
    "longest block": _longest,
}
EXTRACTORS = (*_BLOCKS, "whole text")


def extracted_by_others(completion: str) -> dict[str, str | None]:
    """The code that each of `EXTRACTORS` takes out of a completion; None if it finds none. Thinking is left out.

    The whole text is not compared where it has a fence: that is no Python, which says nothing.
    """
    blocks = fenced_blocks(outside_thinking(completion))
    if blocks:
        return {name: choose(blocks).text for name, choose in _BLOCKS.items()}
    return {**dict.fromkeys(_BLOCKS), "whole text": completion if completion.strip() else None}
