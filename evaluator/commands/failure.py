"""Errors that end a command: one line for the user, and an exit status."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit statuses of every command."""

    DONE = 0
    FINDING = 1
    BAD_INPUT = 2
    NO_SANDBOX = 3
    STOPPED = 130


class CommandError(Exception):
    """The command can't continue. The message is one line that says what is wrong and how to fix it."""

    def __init__(self, message: str, status: Exit = Exit.BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


def status_of(error: Exception) -> Exit | None:
    """The exit status of an error whose message is meant for the user; None for a bug of our own."""
    # Imported late: the modules that define these errors are only needed after a failure.
    from evaluator.checkers import CheckerError
    from evaluator.extras import MissingExtraError
    from evaluator.formats import FormatError
    from evaluator.graders import GraderError
    from evaluator.model import RecordError
    from evaluator.runs.files import ExportError, QueryError, RunError
    from evaluator.sandbox import InterpreterError, SandboxUnavailable

    if isinstance(error, CommandError):
        return error.status
    if isinstance(error, SandboxUnavailable):
        return Exit.NO_SANDBOX
    expected = (
        CheckerError, ExportError, FormatError, GraderError, InterpreterError,
        MissingExtraError, RecordError, QueryError, RunError, OSError,
    )  # fmt: skip
    return Exit.BAD_INPUT if isinstance(error, expected) else None
