"""What ends a command early: one line for the person, and an exit status."""

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
    """The command can't go on. The message is one line that says what is wrong and how to mend it."""

    def __init__(self, message: str, status: Exit = Exit.BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


def status_of(error: Exception) -> Exit | None:
    """The exit status of an error whose message is meant for the person; None for a fault of our own."""
    # Only here, after something went wrong, are the modules that define these errors needed.
    from evaluator.checkers import CheckerError
    from evaluator.extras import MissingExtraError
    from evaluator.formats import FormatError
    from evaluator.graders import GraderError
    from evaluator.model import RecordError
    from evaluator.run_files import ExportError, QueryError, RunError
    from evaluator.sandbox import InterpreterError, SandboxUnavailable

    if isinstance(error, CommandError):
        return error.status
    if isinstance(error, SandboxUnavailable):
        return Exit.NO_SANDBOX
    told = (
        CheckerError, ExportError, FormatError, GraderError, InterpreterError,
        MissingExtraError, RecordError, QueryError, RunError, OSError,
    )  # fmt: skip
    return Exit.BAD_INPUT if isinstance(error, told) else None
