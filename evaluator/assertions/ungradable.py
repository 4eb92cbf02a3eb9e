"""Why a task can't be graded. See docs/checks.md."""

from __future__ import annotations

from enum import StrEnum


class UngradableError(ValueError):
    """The task can't be graded. The message says why."""


class Refusal(StrEnum):
    """Why test code can't be graded."""

    NO_CODE = "the task has no test code"
    TOO_LONG = "the test is longer than {:,} characters"
    NOT_PYTHON = "the test is not Python: {}"
    NESTED = "the test is nested too deeply to be read"
    NO_METHODS = "the test's classes have no test methods"
    CHECK_CALLS_NOTHING = "the check asks nothing of the completion"
    TEST_CALLS_NOTHING = "the test asks nothing of the completion"
    ARGUMENTS = "`check` takes more than one argument"
    BESIDE_CHECK = "a statement beside `check` that may decide the grade"
    BESIDE_TESTS = "a statement beside the tests that may decide the grade"
    PARAMETER = "nobody gives `{}` its `{}`"
    DECORATOR = "what `{}` makes can't be told in advance"
    LOAD_TESTS = "`load_tests` says when it runs what is to be run"
    NO_TEST_CASE = "`{}` is no unittest.TestCase"

    def error(self, *values: object, line: int | None = None) -> UngradableError:
        """The error with its values filled in; `line`: of the test, from 1."""
        said = self.format(*values)
        return UngradableError(said if line is None else f"line {line} of the test: {said}")
