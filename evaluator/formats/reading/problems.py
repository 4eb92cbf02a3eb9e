"""What can be wrong with a file or with one of its rows, each as a message of one line."""

from __future__ import annotations

import msgspec

MAX_ROW_BYTES = 128 << 20
"""A longer row is reported and skipped; no more than this of it is held in memory. Of another one its JSON, its values
and the tests in one of its fields may be held at once: three times as much."""
SNIPPET_BYTES = 200
"""How many bytes of a broken row are kept."""


class FormatError(ValueError):
    """A file that can't be read as a whole. The message is one line: the file, what is wrong, how to fix it."""


class FormatWarning(UserWarning):
    """A `Problem`, for callers that pass no `on_problem`."""


class Problem(msgspec.Struct, frozen=True):
    """One row that was skipped. `line` is the physical line in the (decompressed) file, from 1.

    `snippet` is the row's first bytes as ASCII with escapes; empty if the row is well-formed JSON, and `message` names
    the wrong field. `reason` is a short word to count by, found in the message where it is not given. `offset` is that
    of the row's first byte in the decompressed text; None where it is not known.
    """

    path: str
    line: int
    message: str
    snippet: str = ""
    reason: str = ""
    offset: int | None = None

    def __post_init__(self) -> None:
        if not self.reason:
            msgspec.structs.force_setattr(self, "reason", reason_of(self.message))

    def __str__(self) -> str:
        begins = f" (begins {self.snippet})" if self.snippet else ""
        return one_line(f"{self.path}:{self.line}: {self.message}{begins}")


class TaskClash(Problem, frozen=True):
    """A row whose task came before with different tests, so that it is unclear which of them a rollout belongs to."""

    task_id: str = ""


def too_long(path: str, line: int, offset: int, size: int, data: bytes, limit: int) -> Problem:
    """A row of so many bytes, of which `data` are the first."""
    message = f"the row has {size / 1e6:.1f} MB, more than the limit of {limit >> 20} MiB per row: it is skipped"
    return Problem(path, line, message, snippet_of(data), offset=offset)


_REASONS = (
    ("not Python: it", "not Python"),
    ("not complete", "cut off"), ("cut off", "cut off"), ("equally long", "ragged lists"),
    ("not UTF-8", "not UTF-8"), ("not JSON", "not JSON"), ("nested too deeply", "too deep"),
    ("must be a JSON object", "not an object"), ("more than the limit", "too long"),
    ("is already on line", "repeated id"), ("is also on line", "clashing tasks"),
    ("can't be read", "damaged"), ("text after the end", "not JSON"),
    ("is missing", "missing field"), ("has no ", "missing field"),
    ("must be", "wrong type"), ("must have", "wrong type"),
)  # fmt: skip


def reason_of(message: str) -> str:
    """A word to count such messages by: `not JSON`, `missing field`, `wrong type` and so on; `unusable` for others."""
    return next((reason for part, reason in _REASONS if part in message), "unusable")


def snippet_of(data: bytes) -> str:
    """The first bytes of a row, safe to print: no control characters, ASCII only."""
    shown = repr(bytes(data[:SNIPPET_BYTES]))[1:] if data else ""
    return f"{shown}..." if len(data) > SNIPPET_BYTES else shown


def one_line(text: str) -> str:
    """The text, escaped so that nothing breaks the line or moves a terminal's cursor."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
