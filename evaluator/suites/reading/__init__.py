"""Reads a dataset's test code as data: its test cases, their needs, where they can run; or why it can't be graded.

Runs nothing. See docs/concepts/checks.md.
"""

from __future__ import annotations

from enum import StrEnum


class UngradableError(ValueError):
    """The task can't be graded. The message says why."""


class Refusal(StrEnum):
    """Why test code can't be graded."""

    NO_CODE = "the task has no test code"
    TOO_LONG = "the test is longer than {:,} characters"
    NOT_PYTHON = "the test is not Python: {}"
    NESTED = "the test is nested too deeply"
    NO_METHODS = "the test's classes have no test methods"
    NEVER_CALLS = "the test never calls the completion"
    ARGUMENTS = "`check` takes more than one argument"
    OUTSIDE_CHECK = "a statement outside `check` may decide the grade"
    OUTSIDE_TESTS = "a statement outside the tests may decide the grade"
    PARAMETER = "`{}` needs a fixture `{}`"
    DECORATOR = "the tests that `{}` makes are not known in advance"
    LOAD_TESTS = "`load_tests` chooses the tests while it runs"
    NO_TEST_CASE = "`{}` must be a subclass of unittest.TestCase"

    def error(self, *values: object, line: int | None = None) -> UngradableError:
        """The error with its values filled in; `line`: of the test, from 1."""
        message = self.format(*values)
        return UngradableError(message if line is None else f"line {line} of the test: {message}")
