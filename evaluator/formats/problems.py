"""What can be wrong with a file or with one row of it, each told in one line."""

from __future__ import annotations

import msgspec

SNIPPET_BYTES = 200
"""At most so many bytes of a broken row are kept."""


class FormatError(ValueError):
    """A file that can't be read as a whole. The message is one line: the file, what is wrong, the mend."""


class FormatWarning(UserWarning):
    """A `Problem`, when the caller did not ask to be told of problems."""


class Problem(msgspec.Struct, frozen=True):
    """One row that was left out. `line` is the physical line in the (decompressed) file, from 1.

    `snippet` holds the row's first bytes as ASCII with escapes; empty where the row is well-formed JSON and
    `message` names the field that is wrong.
    """

    path: str
    line: int
    message: str
    snippet: str = ""

    def __str__(self) -> str:
        begins = f" (begins {self.snippet})" if self.snippet else ""
        return one_line(f"{self.path}:{self.line}: {self.message}{begins}")


class TaskClash(Problem, frozen=True):
    """A row whose task was there before with other tests. Which of them a rollout is for can't be told."""

    task_id: str = ""


def snippet_of(data: bytes) -> str:
    """The first bytes of a row, safe to print: no control characters, ASCII only."""
    shown = repr(bytes(data[:SNIPPET_BYTES]))[1:]
    return f"{shown}..." if len(data) > SNIPPET_BYTES else shown


def one_line(text: str) -> str:
    """Text in which nothing can break a line or move a terminal's cursor."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
