"""Why a suite can't continue in two processes, and why a pass there is not verified. See docs/checks.md."""

from __future__ import annotations

from enum import StrEnum


class GaveUp(StrEnum):
    """Why the test must run in the completion's process."""

    PASSES = "the test passes {} to the completion"
    PASSES_MORE = "the test passes more than 64 MiB to the completion at once"
    ANSWERS = "the completion returns {}"
    SUBCLASS = "the test subclasses one of the completion's classes"
    SETS_ON_CLASS = "the test sets an attribute of one of the completion's classes"
    DELETES_ON_CLASS = "the test deletes an attribute of one of the completion's classes"
    SETS_ON_FUNCTION = "the test sets an attribute of one of the completion's functions"
    COPIES = "the test copies one of the completion's objects"
    FIELDS = "the test reads the fields of one of the completion's dataclasses"
    USES = "the test uses {} of one of the completion's objects"


class Doubt(StrEnum):
    """How the completion's own code took part in a comparison."""

    CALLED = "the completion's {}.{} was called"
    SUPPRESSED = "the completion's {}.__exit__ suppressed an exception"
    STOP_ITERATION = "the completion raised StopIteration, which can end a loop in the test"
    HOLDS = "an object of class {} contains the completion's functions or objects"
    EMPTY_ARRAY = "an array without values passed where another was expected"
