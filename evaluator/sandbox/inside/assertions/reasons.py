"""Why a suite can't run in two processes, and why a pass in two processes is not verified. See docs/checks.md."""

from __future__ import annotations

from enum import StrEnum


class GaveUp(StrEnum):
    """Why the test must run in the completion's process."""

    PASSES = "the test passes {} to the completion"
    PASSES_MORE = "the test passes more to the completion than limits.output_mb"
    ANSWERS = "the completion returns {}"
    SUBCLASS = "the test subclasses a class of the completion"
    SETS_ON_CLASS = "the test sets an attribute of a class of the completion"
    DELETES_ON_CLASS = "the test deletes an attribute of a class of the completion"
    SETS_ON_FUNCTION = "the test sets an attribute of a function of the completion"
    COPIES = "the test copies an object of the completion"
    FIELDS = "the test inspects the fields of a dataclass of the completion"
    USES = "the test uses {} of an object of the completion"


class Doubt(StrEnum):
    """How the completion's own code took part in a comparison."""

    CALLED = "the completion's {}.{} was called"
    SUPPRESSED = "the completion's {}.__exit__ suppressed an exception"
    STOP_ITERATION = "a call of the completion raised StopIteration, which can end a loop of the test"
    HOLDS = "an object of class {} holds functions or objects of the completion"
    EMPTY_ARRAY = "an empty array passed where another one was expected"
