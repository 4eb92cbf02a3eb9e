"""Errors while values pass between a completion's process and its test's, and what is said of such a suite."""

from __future__ import annotations

from enum import StrEnum


class BadMessageError(Exception):
    """The other side would not write such a text."""


class TooLargeError(Exception):
    """The message would be longer than allowed."""


class NotDataError(Exception):
    """A value that this side can't send. The message describes it in one line."""

    def __init__(self, message: str, kind: type | None = None) -> None:
        """`kind`: the value's class, if that is a subclass of a library's."""
        super().__init__(message)
        self.kind = kind


class GaveUp(StrEnum):
    """Why the test must run in the completion's process. See docs/concepts/checks.md."""

    PASSES = "the test passes {} to the completion"
    PASSES_MORE = "the test passes more than 64 MiB to the completion at once"
    ANSWERS = "the completion returns {}"
    SUBCLASS = "the test subclasses one of the completion's classes"
    SETS = "the test sets or deletes an attribute of one of the completion's classes or functions"
    COPIES = "the test copies one of the completion's objects"
    FIELDS = "the test reads the fields of one of the completion's dataclasses"
    USES = "the test uses {} of one of the completion's objects"


class Doubt(StrEnum):
    """How the completion's own code took part in a comparison, so that a pass is not verified."""

    CALLED = "the completion's {}.{} was called"
    SUPPRESSED = "the completion's {}.__exit__ suppressed an exception"
    STOP_ITERATION = "the completion raised StopIteration, which can end a loop in the test"
    HOLDS = "an object of class {} contains the completion's functions or objects"
    EMPTY_ARRAY = "an array without values passed where another was expected"
