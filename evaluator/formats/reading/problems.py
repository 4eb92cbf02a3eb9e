"""What can be wrong with a file or with one of its rows, each as a message of one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec

from evaluator.model import RecordError

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


Item = TypeVar("Item")
Record = TypeVar("Record")


class _SeveralError(RecordError):
    """What is wrong with several records of one row. As text it is the first of them."""

    def __init__(self, errors: list[ValueError]) -> None:
        super().__init__(str(errors[0]))
        self.errors = errors


def errors_in(error: ValueError) -> list[ValueError]:
    """One for each record that is wrong."""
    return error.errors if isinstance(error, _SeveralError) else [error]


def refuse_all(errors: Iterable[ValueError]) -> None:
    """Raises `RecordError` for all that is wrong with records of one row, if anything is; see `errors_in`."""
    found = list(errors)
    if found:
        raise found[0] if len(found) == 1 else _SeveralError(found)


def read_each(
    items: Iterable[Item | RecordError],
    read: Callable[[Item], Iterable[Record]],
    where: Callable[[int, Item], str],
    *,
    is_list: bool = True,
) -> Iterator[Record]:
    """The records of each item of a row; a wrong one does not keep the others from it.

    `items` may have what is wrong with one in its place. `where` names an item by its place, from 0, for messages;
    unless `is_list` the only one needs no name. Raises `RecordError` at the end: for all that are wrong, or because
    there is no item.
    """
    errors: list[tuple[str, ValueError]] = []
    place = -1
    try:
        for place, item in enumerate(items):
            if isinstance(item, RecordError):
                errors.append(("", item))
                continue
            try:
                yield from read(item)
            except ValueError as error:  # a `RecordError`, or a number too long for Python to write
                errors += [(f"{where(place, item)}: ", each) for each in errors_in(error)]
    except ValueError as error:
        errors += [("", each) for each in errors_in(error)]
    if place < 0 and not errors:
        raise RecordError("the row has no sample: its list is empty")
    named = is_list or place > 0
    refuse_all(RecordError(f"{name}{error}") if name and named else error for name, error in errors)


def too_long(path: str, line: int, offset: int, size: int, data: bytes, limit: int) -> Problem:
    """A row of so many bytes, of which `data` are the first."""
    message = f"the row has {size / 1e6:.1f} MB, more than the limit of {limit >> 20} MiB per row: it is skipped"
    return Problem(path, line, message, snippet_of(data), offset=offset)


NOT_UTF8_FIX = "save the file as UTF-8, for example with `iconv -f LATIN1 -t UTF-8`"

CUT_OFF = "cut off"
_REASONS = (
    ("not Python: it", "not Python"), ("only Python is", "not Python"),
    ("not complete", CUT_OFF), ("cut off", CUT_OFF), ("equally long", "ragged lists"),
    ("not UTF-8", "not UTF-8"), ("not JSON", "not JSON"), ("nested too deeply", "too deep"),
    ("must be a JSON object", "not an object"), ("more than the limit", "too long"),
    ("there is no row", "no rows"),
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
