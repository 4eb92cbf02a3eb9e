"""Finds the fenced code blocks of a chat answer, as models write them.

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
_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")
_WORD = re.compile(r"[\w+#.{}:=/-]+")
_OPENING_INFO = re.compile(r"\.?\w|\{")
"""The start of a language tag: `python`, `{.python}`."""
_MARKERS = ("```", "~~~")
_MOST_FENCES = 10_000
_MOST_FENCES_TO_LOOSEN = 2000
"""With more fences than this, misplaced closing fences are not searched for: it could take a pass for each fence."""


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
    char: str
    marks: int
    indent: int
    leads: bool
    """Only white space or a list marker comes before it."""
    info: str

    @property
    def tag(self) -> str:
        word = _WORD.match(self.info)
        return word.group().strip("{}.").partition(":")[0].lower() if word else ""

    @property
    def inline(self) -> bool:
        """Whether the block begins and ends on this line."""
        return self.char in self.info

    @property
    def bare(self) -> bool:
        """Whether nothing that could open a block follows it; a comment could not (```` ```  # 0 ````)."""
        return not self.info or (self.leads and not self.inline and not _OPENING_INFO.match(self.info))

    def opens(self) -> bool:
        if self.inline:
            return False
        return self.leads or (self.char == "`" and (not self.info or self.tag in PYTHON_TAGS))

    def closes(self, opening: _Fence) -> bool:
        return self.bare and self.char == opening.char and self.marks >= opening.marks

    def starts_anew(self, opening: _Fence) -> bool:
        """Whether this is the opening fence of another block, so that the open one has no closing fence."""
        one_word = bool(self.info) and self.tag != "" and len(self.info.split()) == 1
        near = self.indent <= opening.indent + 3
        return self.leads and one_word and near and self.char == opening.char and self.marks >= opening.marks


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
    position = 0
    ahead = {marker: text.find(marker) for marker in _MARKERS}
    while True:
        for marker, at in ahead.items():
            if 0 <= at < position:
                ahead[marker] = text.find(marker, position)
        mark = min((at for at in ahead.values() if at >= 0), default=-1)
        if mark < 0:
            return
        start = text.rfind("\n", position, mark) + 1 or position
        line += text.count("\n", position, start)
        end = text.find("\n", mark)
        end = len(text) if end < 0 else end
        fence = _fence_at(text, start, mark, end, line)
        if fence.leads or fence.char == "`":
            yield fence
        position = end


def _fence_at(text: str, start: int, mark: int, end: int, line: int) -> _Fence:
    before, after = text[start:mark], text[mark:end]
    if before.startswith("\n"):  # the line feed of the line before
        start, line, before = start + 1, line + 1, before[1:]
    char = after[0]
    info = after.lstrip(char)
    blank = not before.strip(" \t")
    leads = blank or _LIST_MARKER.fullmatch(before) is not None
    indent = len(before) if leads else len(before) - len(before.lstrip(" \t"))
    return _Fence(start, mark, end, line, char, len(after) - len(info), indent, leads, info.strip())


def _paired(text: str, fences: list[_Fence]) -> Iterator[Block]:
    loosens = len(fences) <= _MOST_FENCES_TO_LOOSEN
    number = 0
    while number < len(fences):
        opening = fences[number]
        number += 1
        if opening.inline:
            yield _one_line(opening)
        elif opening.opens() and opening.tag not in _MARKDOWN_TAGS:
            end, number = _end_of(text, fences, number, opening, loosens)
            yield _block(text, opening, end)


def _end_of(text: str, fences: list[_Fence], number: int, opening: _Fence, loosens: bool) -> tuple[int, int]:
    """Where the block ends, and the number of the next fence. A fence in a string in triple quotes is code."""
    misplaced: tuple[int, int] | None = None
    quotes, counted = 0, opening.end
    for at in range(number, len(fences)):
        fence = fences[at]
        if fence.closes(opening):
            end = (fence.mark if not fence.leads else fence.start, at + 1)
            quotes, counted = quotes + _triple_quotes(text, counted, end[0]), end[0]
            if (not fence.leads or fence.indent <= opening.indent + 3) and (quotes % 2 == 0 or not loosens):
                return end
            misplaced = misplaced or end
        elif fence.starts_anew(opening):
            return misplaced or (fence.start, at)
    if misplaced and loosens:
        return misplaced
    return len(text), len(fences)


def _triple_quotes(text: str, start: int, end: int) -> int:
    return text.count('"""', start, end) + text.count("'''", start, end)


def _block(text: str, opening: _Fence, end: int) -> Block:
    content = text[opening.end + 1 : end]
    if opening.leads and opening.indent:
        content = "\n".join(_unindented(row, opening.indent) for row in content.split("\n"))
    return Block(content, opening.line + 1, opening.tag)


def _unindented(row: str, most: int) -> str:
    return row[min(most, len(row) - len(row.lstrip(" \t"))) :]


def _one_line(fence: _Fence) -> Block:
    content = fence.info.partition(fence.char * 3)[0]
    word, _, rest = content.partition(" ")
    if word.lower() in PYTHON_TAGS:
        return Block(rest, fence.line, word.lower())
    return Block(content, fence.line, "")
