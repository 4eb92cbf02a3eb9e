"""Why a suite can't go on in two processes, and why a pass in two processes is not verified. See docs/checks.md."""

from __future__ import annotations

from enum import StrEnum


class GaveUp(StrEnum):
    """Why the test has to run in the completion's process."""

    PASSES = "the test passes {} to the completion"
    PASSES_MORE = "the test passes more to the completion than limits.output_mb"
    ANSWERS = "the completion answers with {}"
    SUBCLASS = "the test makes a subclass of a class of the completion's"
    SETS_ON_CLASS = "the test sets an attribute of a class of the completion's"
    DELETES_ON_CLASS = "the test deletes an attribute of a class of the completion's"
    SETS_ON_FUNCTION = "the test sets an attribute of a function of the completion's"
    COPIES = "the test copies an object of the completion's"
    FIELDS = "the test looks at the fields of a dataclass of the completion's"
    USES = "the test uses {} of an object of the completion's"


class Doubt(StrEnum):
    """How the completion's own code took part in a comparison."""

    ASKED = "{}.{} of the completion's was asked"
    SUPPRESSED = "{}.__exit__ of the completion's suppressed an exception"
    STOP_ITERATION = "a call of the completion's raised StopIteration, which can end a loop of the test's"
    HOLDS = "an object of class {} holds functions or objects of the completion's"
    EMPTY_ARRAY = "an array without values passed where another was expected"
