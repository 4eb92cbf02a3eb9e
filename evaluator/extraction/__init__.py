"""Completion text to code: what is taken out of a completion and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluator.extraction.choice import ONLY_BLOCK, Extraction
from evaluator.extraction.fences import Block, fenced_blocks
from evaluator.extraction.program import WHOLE, extract, outside_thinking

__all__ = ["EXTRACTORS", "OBVIOUS", "Extraction", "extract", "extracted_by_others", "outside_thinking"]

OBVIOUS = (WHOLE, ONLY_BLOCK)
"""How `Extraction.extracted_from` begins where there was nothing to choose."""

_BLOCKS: Mapping[str, Callable[[list[Block]], Block]] = {
    "last block": lambda blocks: blocks[-1],
    "first block": lambda blocks: blocks[0],
    "longest block": lambda blocks: max(blocks, key=lambda block: len(block.text)),
}
EXTRACTORS = (*_BLOCKS, "whole text")
"""Those that other graders use: an audit shows whose reward depends on one."""


def extracted_by_others(completion: str) -> dict[str, str | None]:
    """The code that each of `EXTRACTORS` takes out of a completion; None if it finds none. Thinking is left out.

    The whole text is not compared where it has a fence: that is no Python, which says nothing.
    """
    blocks = fenced_blocks(outside_thinking(completion))
    if blocks:
        return {name: choose(blocks).text for name, choose in _BLOCKS.items()}
    return {**dict.fromkeys(_BLOCKS), "whole text": completion if completion.strip() else None}
