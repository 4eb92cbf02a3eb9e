"""Which of the blocks of an answer is the program, and which others belong to it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import msgspec

from evaluator.extraction.definitions import (
    acts,
    binds,
    defines_by_statement,
    fits_and_parses,
    is_code,
    names_of,
    parses,
)
from evaluator.extraction.fences import Block
from evaluator.model import Kind
from evaluator.syntax import MAX_PARSED, is_python

ONLY_BLOCK = "the only block"
_MOST_TRIED = 8
"""Blocks that are parsed, from the last. This many of the maximum length take about a second."""


class Extraction(msgspec.Struct, frozen=True):
    """The program extracted from a completion.

    `code` is None if there is none; `reason` then says why. Line of the completion's text = line of `code`
    + `line_offset`; if that is not above 0, the line is in the prompt. `kind` is the text's kind, given or detected.
    `extracted_from` says for people which part of the text it is.
    """

    code: str | None
    kind: Kind
    line_offset: int = 0
    reason: str | None = None
    extracted_from: str | None = None


def that_defines(blocks: Sequence[Block], name: str) -> Extraction | None:
    """The program that defines `name`; None if no block does."""
    block = _last_that_defines(blocks, name)
    if block is None:
        return None
    return _joined(_with_what_it_needs(block, blocks), blocks, f"the last that defines {name}")


def tried(blocks: Sequence[Block]) -> list[Block]:
    """The blocks that may be parsed, from the last."""
    return list(blocks[: -_MOST_TRIED - 1 : -1])


# call: the function's definition


def _last_that_defines(blocks: Sequence[Block], name: str) -> Block | None:
    ours = [block for block in blocks if not block.foreign]
    for defines in (defines_by_statement, binds):
        for block in reversed(ours):
            if defines(textwrap.dedent(block.text) if block.text[:1] in " \t" else block.text, name):
                return block
    for block in tried(blocks):
        if block.foreign and defines_by_statement(block.text, name) and fits_and_parses(block.text):
            return block
    return None


# stdin: a program reads and prints

_READS = re.compile(r"\binput\s*\(|\bstdin\b|\bfileinput\b|\bopen\s*\(\s*0\b|\bread\s*\(\s*0\b")
_PRINTS = re.compile(r"\bprint\s*\(|\bstdout\b|\bwrite\s*\(\s*1\b")
_WHY = ("the last that is Python", "the last that prints", "the last that reads input",
        "the last that reads input and prints")  # fmt: skip
_COMPLETE = 3


def program(blocks: Sequence[Block]) -> Extraction:
    """The last block that reads input and prints, with others that it needs; else one that does a part of this.

    A block that needs one that is a program by itself shows how that is used. An only block is not even parsed.
    """
    if len(blocks) == 1:
        return _joined(blocks, blocks)
    ours = [block for block in blocks if block.python] or [block for block in blocks if not block.foreign]
    found: list[tuple[int, list[Block]]] = []
    for block in tried(ours):
        if not is_code(_dedented(block)):
            continue
        members = _with_what_it_needs(block, blocks)
        others_complete = any(_rank([each]) == _COMPLETE for each in members if each is not block)
        rank = _rank([block] if others_complete else members)
        found.append((rank, sorted(members, key=lambda each: each is block)))  # it runs at once: what it needs is first
        if rank == _COMPLETE:
            break
    rank, members = max(found, key=lambda each: each[0], default=(0, []))
    return _joined(members, blocks, _WHY[rank]) if rank else likeliest(blocks)


def _rank(blocks: Sequence[Block]) -> int:
    """An index into `_WHY`."""
    code = "\n".join(map(_dedented, blocks))
    return 2 * bool(_READS.search(code)) + bool(_PRINTS.search(code)) if acts(code) else 0


def likeliest(blocks: Sequence[Block]) -> Extraction:
    """The last block that is Python, where none defines what is called."""
    python = [block for block in blocks if block.python]
    untagged = [block for block in blocks if not block.python and not block.foreign]
    if len(python) == len(blocks) == 1 and len(python[0].text) <= MAX_PARSED:
        return _joined(blocks, blocks, _WHY[0] if is_python(python[0].text) else "the last")
    parsing = (block for block in tried(python) if parses(block.text))
    block = next(parsing, None) or next((block for block in tried(untagged) if is_code(block.text)), None)
    why = _WHY[0] if block else "the last"
    block = block or (python or untagged or list(blocks))[-1]
    return _joined(_with_what_it_needs(block, blocks), blocks, why)


# blocks that belong together


def _with_what_it_needs(block: Block, blocks: Sequence[Block]) -> list[Block]:
    """The block, and the blocks that define names it uses and does not define, in the order of the text.

    Of several that define a name the last one before the block counts, else the first one after it.
    """
    needed = names_of(_dedented(block)).free if len(blocks) > 1 else ()
    if not needed:
        return [block]
    others = [each for each in tried(blocks) if each is not block and not each.foreign]
    nearest = [each for each in others if each.line < block.line]
    nearest += [each for each in reversed(others) if each.line > block.line]
    members, looked_for = [block], set(needed)
    while looked_for:
        name = looked_for.pop()
        if any(name in names_of(_dedented(member)).defined for member in members):
            continue
        found = next((each for each in nearest if name in names_of(_dedented(each)).defined), None)
        if found is not None:
            members.append(found)
            looked_for |= names_of(_dedented(found)).free
    return sorted(members, key=lambda each: each.line)


def _joined(members: Sequence[Block], blocks: Sequence[Block], why: str = "") -> Extraction:
    """Blank lines stand for the text between the blocks, so that every line keeps its distance to the first."""
    first = members[0].line
    code = ""
    for member in members:
        lines_before = member.line - first
        code += "\n" * max(lines_before - code.count("\n"), 1 if code and not code.endswith("\n") else 0)
        code += _dedented(member)
    which = _called(members, blocks)
    return Extraction(code, Kind.CHAT, first - 1, extracted_from=f"{which}: {why}" if why else which)


def _dedented(block: Block) -> str:
    """Its text, without the indentation that all of it has."""
    code = block.text
    if code[:1] in (" ", "\t", "\n") and len(code) <= MAX_PARSED and not parses(code):
        dedented = textwrap.dedent(code)
        return dedented if parses(dedented) else code
    return code


def _called(members: Sequence[Block], blocks: Sequence[Block]) -> str:
    if len(blocks) == 1:
        return ONLY_BLOCK
    numbers = [str(1 + number) for number, block in enumerate(blocks) if block in members]
    if len(numbers) == 1:
        return f"block {numbers[0]} of {len(blocks)}"
    return f"blocks {', '.join(numbers[:-1])} and {numbers[-1]} of {len(blocks)}"
