"""verl's grader on top of SandboxFusion (b178a3cd5): the same text, line feeds at the end aside."""

from __future__ import annotations

from evaluator.checkers._other_systems import text_refused
from evaluator.model import Difference

COMPARES = "text"


def check(expected: str, actual: str) -> Difference | None:
    """None when both are equal without the line feeds at their ends."""
    return None if expected.rstrip("\n") == actual.rstrip("\n") else text_refused(expected, actual, "verl")
