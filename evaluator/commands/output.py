"""What commands print: on stdout JSON, and tables, aligned on a terminal and in unbroken lines in a file or pipe; on
stderr the one line with which they fail, beside their exit status.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final, TextIO

import msgspec

_UNBROKEN: Final = 1_000
_NAME: Final = "rollscope: "
"""Begins the line of an error."""


class Exit(IntEnum):
    """The exit statuses of every command."""

    DONE = 0
    FINDING = 1
    """It did what it was to do, and found something that a script may want to stop at."""
    BAD_INPUT = 2
    NO_SANDBOX = 3
    STOPPED = 130


class CommandError(Exception):
    """The command can't continue. The message is one line that says what is wrong and how to fix it."""

    def __init__(self, message: str, status: Exit = Exit.BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


def report(error: Exception) -> int | None:
    """Print what is wrong, and return the exit status; None for a bug of our own."""
    # Imported late: the modules that define these errors are only needed after a failure.
    from evaluator.checkers import CheckerError
    from evaluator.extras import MissingExtraError
    from evaluator.formats import FormatError
    from evaluator.graders import GraderError
    from evaluator.model import RecordError
    from evaluator.runs.files import ExportError, QueryError, RunError
    from evaluator.sandbox import InterpreterError, SandboxUnavailable
    from evaluator.workers.engine import EngineError

    if isinstance(error, CommandError):
        return fail(str(error), error.status)
    if isinstance(error, SandboxUnavailable):
        return fail(str(error), Exit.NO_SANDBOX)
    expected = (
        CheckerError, EngineError, ExportError, FormatError, GraderError, InterpreterError,
        MissingExtraError, RecordError, QueryError, RunError, OSError,
    )  # fmt: skip
    return fail(_message(error), Exit.BAD_INPUT) if isinstance(error, expected) else None


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def fail(message: str, status: Exit) -> int:
    """Print the message as one line on stderr, and return the status."""
    from evaluator.formats.reading.problems import one_line as cut  # only needed after a failure

    print(f"{_NAME}{cut(' '.join(message.split()))}", file=sys.stderr)
    return status


class Messages(io.TextIOBase):
    """In place of stderr, for `--quiet` and `--log-json`: errors alone, or each line as JSON, or both."""

    def __init__(self, stream: TextIO, *, quiet: bool, as_json: bool) -> None:
        self._stream, self._quiet, self._as_json = stream, quiet, as_json
        self._begun = ""

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            is_error = line.startswith(_NAME)
            if line.strip() and (is_error or not self._quiet):
                self._stream.write(f"{self._record(line, is_error) if self._as_json else line}\n")
        self._stream.flush()
        return len(text)

    def _record(self, line: str, is_error: bool) -> str:
        level, time = "error" if is_error else "info", datetime.now(UTC).isoformat(timespec="milliseconds")
        return json.dumps({"time": time, "level": level, "message": line.removeprefix(_NAME).strip()})


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = (), head: bool = True
) -> None:
    """Print rows of texts without lines around them; the columns named in `numbers` are right-aligned.

    A cell is never markup: a file may hold anything.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table(
        box=None, pad_edge=False, show_edge=False, padding=(0, 3, 0, 0), header_style="bold", show_header=head
    )
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    for row in rows:
        table.add_row(*row)
    if sys.stdout.isatty():
        Console(markup=False, emoji=False, highlight=False).print(table)
        return
    console = Console(width=_UNBROKEN, markup=False, emoji=False, highlight=False, no_color=True)
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and what they are, without a header."""
    print_table(("", ""), facts, head=False)


def print_json(report: object, *, in_one_line: bool = False) -> None:
    """Print it with an indent; or any of our records in one line, where NaN is null."""
    print(msgspec.json.encode(report).decode() if in_one_line else json.dumps(report, indent=2))


def print_more(total: int, printed: int) -> None:
    """Print how many rows of a table are not printed, if any."""
    if total > printed:
        print(f"... and {total - printed:,} more: --json lists all")


def counted(count: int, what: str) -> str:
    """A number with its noun: "1 task", "2 tasks"."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def one_line(text: str, most: int) -> str:
    """A text that a completion may have chosen, made safe for a terminal and cut to `most` characters."""
    printable = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return printable if len(printable) <= most else f"{printable[: most - 1]}…"
