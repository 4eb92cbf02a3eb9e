"""Errors that end a command: one line for the user, and an exit status."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any

import typer

# Typer bundles Click under a private name; these are the bases of its public errors.
_USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
_CLICK_ERROR: Any = _USAGE_ERROR.__bases__[0]


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

    if isinstance(error, _CLICK_ERROR):
        return _fail_usage(error)
    if isinstance(error, CommandError):
        return fail(str(error), error.status)
    if isinstance(error, SandboxUnavailable):
        return fail(str(error), Exit.NO_SANDBOX)
    expected = (
        CheckerError, EngineError, ExportError, FormatError, GraderError, InterpreterError,
        MissingExtraError, RecordError, QueryError, RunError, OSError,
    )  # fmt: skip
    return fail(_message(error), Exit.BAD_INPUT) if isinstance(error, expected) else None


def _fail_usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return Exit.DONE
    command = error.ctx.command_path if getattr(error, "ctx", None) else "rollscope"
    message = error.format_message().rstrip(".")
    return fail(f"{message} (see {command} --help)", Exit.BAD_INPUT)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def fail(message: str, status: Exit) -> int:
    """Print the message as one line on stderr, and return the status."""
    from evaluator.formats.reading.problems import one_line  # only needed after a failure

    print(f"rollscope: {one_line(' '.join(message.split()))}", file=sys.stderr)
    return status
