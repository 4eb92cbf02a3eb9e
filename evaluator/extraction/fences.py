"""Finds the fenced code blocks of a chat answer, as models write them, and the thinking before it.

The rules are CommonMark's, relaxed where models break them: an opening fence may follow text on its line; a closing
one may be at the end of a line of code, have a comment after it or be missing; a tagged fence inside an open block
starts a new one. Closing fences may be indented at most three more than the opening one, so fences in a docstring stay
code. One pass, linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from evaluator.extraction.definitions import fits_and_parses

PYTHON_TAGS = frozenset(("python", "py", "python3", "py3", "python2", "ipython", "ipython3", "sage"))
_MARKDOWN_TAGS = frozenset(("markdown", "md"))
# fmt: off
_FOREIGN_TAGS = frozenset((
    "bash", "sh", "shell", "zsh", "fish", "console", "terminal", "powershell", "ps1", "cmd", "bat",
    "text", "txt", "plain", "plaintext", "output", "input", "stdin", "stdout", "stderr", "log", "json",
    "jsonl", "yaml", "yml", "toml", "ini", "xml", "html", "css", "csv", "tsv", "javascript", "js",
    "typescript", "ts", "java", "kotlin", "scala", "c", "h", "cpp", "c++", "cc", "cs", "csharp", "c#",
    "go", "golang", "rust", "rs", "ruby", "rb", "php", "perl", "lua", "swift", "haskell", "ocaml", "r",
    "julia", "sql", "diff", "patch", "mermaid", "dot", "latex", "tex", "math", "makefile", "dockerfile",
    "pycon", "python-repl", "doctest", "traceback", "error", "none",
))
# fmt: on
_MARKS = re.compile(r"(```+|~~~+)([^\n]*)")
_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_WORD = re.compile(r"[\w+#.{}:=/-]+")
_OPENING_INFO = re.compile(r"\.?\w|\{")
"""The start of a language tag: `python`, `{.python}`."""
_MOST_FENCES = 10_000
_MOST_INSIDE = 20
"""Fences inside a block, such as those in a docstring, that are looked at for the one that closes it."""


class Block(NamedTuple):
    """One fenced block. `line` is the line of the text on which `text` begins."""

    text: str
    line: int
    tag: str
    """First word after the opening fence, in lower case; "" without one."""

    @property
    def python(self) -> bool:
        """Whether the tag says Python."""
        return self.tag in PYTHON_TAGS

    @property
    def foreign(self) -> bool:
        """Whether the tag says that it is not a Python program."""
        return self.tag in _FOREIGN_TAGS


class _Fence(NamedTuple):
    """A line with a fence on it. Positions are in the whole text."""

    start: int
    mark: int
    end: int
    line: int
    marks: str
    indent: int
    leads: bool
    """Only white space or a list marker comes before it."""
    info: str
    tag: str
    inline: bool
    """Whether the block begins and ends on this line."""

    @property
    def bare(self) -> bool:
        """Whether nothing that could open a block follows it; a comment could not (```` ```  # 0 ````)."""
        return not self.info or (self.leads and not self.inline and not _OPENING_INFO.match(self.info))

    def opens(self) -> bool:
        if self.inline:
            return False
        return self.leads or (self.marks[0] == "`" and (not self.info or self.tag in PYTHON_TAGS))

    def starts_anew(self, opening: _Fence) -> bool:
        """Whether this is the opening fence of another block, so that the open one has no closing fence."""
        one_word = self.tag != "" and len(self.info.split()) == 1
        return self.leads and one_word and self.indent <= opening.indent + 3 and self.marks.startswith(opening.marks)


def has_fence(text: str) -> bool:
    """Whether some line has an opening fence."""
    return any(fence.opens() or fence.inline for fence in _fences(text, 1))


def before_bare_fence(text: str) -> str:
    """The text before a first fence without a language, which may close a block that the prompt opened; else ""."""
    first = next(_fences(text, 1), None)
    return text[: first.start] if first and first.leads and first.bare else ""


def fenced_blocks(text: str, first_line: int = 1) -> list[Block]:
    """The blocks of a text in their order. A fence around Markdown is ignored, so that its inner blocks count.

    `first_line` is the number of the text's first line. Blank blocks, and everything after the first `_MOST_FENCES`
    fences, are left out.
    """
    fences = list(islice(_fences(text, first_line), _MOST_FENCES))
    blocks = _paired(text, fences)
    return [block for block in blocks if block.text.strip()]


def _fences(text: str, line: int) -> Iterator[_Fence]:
    if "```" not in text and "~~~" not in text:
        return
    counted = 0
    for found in _MARKS.finditer(text):  # the first of each line
        marks, info = found[1], found[2].strip()
        start = text.rfind("\n", 0, found.start()) + 1
        before = text[start : found.start()]
        line += text.count("\n", counted, start)
        counted = start
        leads = not before.strip(" \t") or _LIST_MARKER.fullmatch(before) is not None
        if leads or marks[0] == "`":
            indent = len(before) if leads else len(before) - len(before.lstrip(" \t"))
            word = _WORD.match(info)
            tag = word.group().strip("{}.").partition(":")[0].lower() if word else ""
            inline = marks[0] in info
            yield _Fence(counted, found.start(), found.end(), line, marks, indent, leads, info, tag, inline)


def _paired(text: str, fences: list[_Fence]) -> Iterator[Block]:
    number = 0
    while number < len(fences):
        opening = fences[number]
        number += 1
        if opening.inline:
            yield _one_line(opening)
        elif opening.opens() and opening.tag not in _MARKDOWN_TAGS:
            end, number = _end_of(text, fences, number, opening)
            yield _block(text, opening, end)


def _end_of(text: str, fences: list[_Fence], number: int, opening: _Fence) -> tuple[int, int]:
    """Where the block ends, and the number of the next fence. A fence in a string in triple quotes is code."""
    misplaced: tuple[int, int] | None = None
    quotes, counted = 0, opening.end
    for at, fence in enumerate(fences[number : number + _MOST_INSIDE], number):
        if fence.bare and fence.marks.startswith(opening.marks):
            end = fence.start if fence.leads else fence.mark
            quotes += sum(text.count(mark, counted, end) for mark in ('"""', "'''"))
            counted = end
            if (not fence.leads or fence.indent <= opening.indent + 3) and quotes % 2 == 0:
                return end, at + 1
            misplaced = misplaced or (end, at + 1)
        elif fence.starts_anew(opening):
            return misplaced or (fence.start, at)
    return misplaced or (len(text), len(fences))


def _block(text: str, opening: _Fence, end: int) -> Block:
    content = text[opening.end + 1 : end]
    if opening.leads and opening.indent:
        content = "\n".join(_unindented(row, opening.indent) for row in content.split("\n"))
    return Block(content, opening.line + 1, opening.tag)


def _unindented(row: str, most: int) -> str:
    return row[min(most, len(row) - len(row.lstrip(" \t"))) :]


def _one_line(fence: _Fence) -> Block:
    content = fence.info.partition(fence.marks[:3])[0]
    word, _, rest = content.partition(" ")
    if word.lower() in PYTHON_TAGS:
        return Block(rest, fence.line, word.lower())
    return Block(content, fence.line, "")


# Thinking: `<think>...</think>`, also with only the closing tag

_TAG = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
"""Looked for first: it begins with a sign that has no case, so it takes a fiftieth of the time of the others."""
_OPEN = re.compile(r"^[ \t]*<think(?:ing)?>", re.MULTILINE | re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_ORPHAN_CLOSE = re.compile(r"^[ \t]*</think(?:ing)?>|</think(?:ing)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MOST_LOOKED_AT = 8
"""Blocks that may have a tag in their code; each may take a parse."""


class Region(NamedTuple):
    """A part of the completion's text, and the line on which it begins."""

    text: str
    line: int


def has_thinking(text: str) -> bool:
    """Whether a tag may be there; it may be a part of code, too."""
    return bool(_TAG.search(text) and (_OPEN.search(text) or _ORPHAN_CLOSE.search(text)))


def without_thinking(text: str) -> tuple[list[Region], Region | None]:
    """The parts outside thinking sections, and the section without an end, if any."""
    if not has_thinking(text):
        return [Region(text, 1)], None
    seen = _without_tags_in_code(text)
    opening, orphan = _OPEN.search(seen), _ORPHAN_CLOSE.search(seen)
    position = 0
    if orphan and (opening is None or orphan.start() < opening.start()):
        position = orphan.end()
        opening = _OPEN.search(seen, position)
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
        opening = _OPEN.search(seen, position)
    return [*regions, Region(text[position:], line)], None


def _without_tags_in_code(text: str) -> str:
    """As long a text without the tags in fenced blocks that parse as they are: these are in a comment or a string."""
    lines = text.split("\n")
    for block in islice(reversed(fenced_blocks(text)), _MOST_LOOKED_AT):
        if "think" in block.text.lower() and fits_and_parses(block.text):
            for number in range(block.line - 1, block.line + block.text.count("\n")):
                lines[number] = lines[number].replace("<", " ")
    return "\n".join(lines)
