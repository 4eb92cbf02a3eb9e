"""The records that every part of Rollscope shares: tasks, rollouts, limits, verdicts and grades.

They are `msgspec.Struct`s: typed, cheap to make, and readable and writable as JSON by `msgspec`.
Nothing here reads a file, runs a program or compares an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal, Self

import msgspec

from evaluator.task_parts import JsonValue, Limits, Mode, RecordError, TestCase, brief, limits_from
from evaluator.task_rows import task_fields

__all__ = [
    "NO_REASON",
    "SPLIT_DISAGREES",
    "CaseDisagreement",
    "CaseResult",
    "Component",
    "Difference",
    "Disagreement",
    "Flag",
    "Frame",
    "Grade",
    "JsonValue",
    "Kind",
    "Limits",
    "Mode",
    "Opaque",
    "RecordError",
    "Rollout",
    "Task",
    "TestCase",
    "Traceback",
    "Verdict",
    "brief",
    "limits_from",
]

NO_REASON: Final = "no reason was given"
"""Said of a grade that is not verified and has no `unverified_reason`."""
SPLIT_DISAGREES: Final = "split_disagrees"
"""The reason of a grade whose test suite fails apart from the completion and passes in its process."""


class Kind(StrEnum):
    """What a completion's text is: a program, the rest of the prompt, or a chat answer with fenced code."""

    FULL = "full"
    CONTINUATION = "continuation"
    CHAT = "chat"


class Verdict(StrEnum):
    """What became of a test case or a rollout, in the order in which they are displayed."""

    PASSED = "passed"
    WRONG_ANSWER = "wrong_answer"
    RUNTIME_ERROR = "runtime_error"
    COMPILE_ERROR = "compile_error"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    NO_CODE = "no_code"
    REJECTED = "rejected"
    SANDBOX_ERROR = "sandbox_error"
    UNKNOWN = "unknown"
    NOT_RUN = "not_run"

    @property
    def letter(self) -> str:
        """The one character that a grid cell shows."""
        return _LETTERS[self]

    @property
    def graded(self) -> bool:
        """Whether a reward can follow from it: false where the fault is ours or nothing could be decided."""
        return self not in (Verdict.SANDBOX_ERROR, Verdict.UNKNOWN)


_LETTERS: dict[Verdict, str] = {
    Verdict.PASSED: "P",
    Verdict.WRONG_ANSWER: "W",
    Verdict.RUNTIME_ERROR: "E",
    Verdict.COMPILE_ERROR: "C",
    Verdict.TIME_LIMIT: "T",
    Verdict.MEMORY_LIMIT: "M",
    Verdict.OUTPUT_LIMIT: "O",
    Verdict.NO_CODE: "N",
    Verdict.REJECTED: "R",
    Verdict.SANDBOX_ERROR: "S",
    Verdict.UNKNOWN: "?",
    Verdict.NOT_RUN: ".",
}


class Task(msgspec.Struct, kw_only=True):
    """A prompt with the test cases that decide whether a completion answers it."""

    task_id: str
    mode: Mode
    prompt: str = ""
    entry_point: str | None = None
    """The function that is called; None for stdin."""
    cases: tuple[TestCase, ...] = ()
    """call and stdin. Empty for assert and unittest, whose cases are read from `test`."""
    test: str | None = None
    """assert: code that defines `check(candidate)`. unittest: code with TestCase classes."""
    preamble: str = ""
    """Code that the dataset puts before every completion (imports)."""
    reference: str | None = None
    """A solution that came with the dataset, where there is one."""
    answer: JsonValue = None
    """answer: what is right, as its grader wants it (a text, or several that are accepted)."""
    checker: str | None = None
    grader: str | None = None
    """Who grades it, and how: see `evaluator.graders.spec`."""
    exit_code: Literal["ignore", "strict"] = "ignore"
    weights: tuple[float, ...] | None = None
    limits: dict[str, float] | None = None
    """Only the limits that the row names; the run's hold for the others."""
    source: str = ""
    licence: str = ""
    metadata: dict[str, JsonValue] = msgspec.field(default_factory=dict)
    """Fields of the row that have no place above, kept as they came."""
    line: int = 0
    """Where the row stands in its file, from 1; 0 when it did not come from a file."""

    @classmethod
    def from_row(cls, row: Mapping[str, JsonValue]) -> Self:
        """A task from a row in the native format (docs/formats.md), which is how tasks are made by hand.

        >>> from evaluator import Task
        >>> task = Task.from_row({"task_id": 7, "in_outs": {"inputs": [[1, 2]], "outputs": [3], "fn_name": "add"}})
        >>> task.task_id, task.mode.value, task.cases[0].input
        ('7', 'call', '1\\n2')
        >>> Task.from_row({"task_id": "add", "mode": "call"})
        Traceback (most recent call last):
        evaluator.task_parts.RecordError: entry_point is missing: a task of mode call names the function to call

        Args:
            row: An object as it comes from JSON; only `task_id` is needed. Without `mode`: assert where there is a
                `test`, answer where there is an `answer` and no `in_outs`, call where a function is named, else
                stdin. `in_outs` may also be its JSON text. call: an input that is a list has an argument in each
                item, a text has a JSON value in each line. `limits` are seconds and MiB (see `Limits`); absent
                ones are the run's. Fields that are not known are kept in `metadata`.

        A row without test cases makes a task, whose grades are `unknown`.

        Raises:
            RecordError: `task_id` is missing, a field has the wrong type or value, or a call or assert task names no
                function. One line, which says what to write instead.
        """
        return cls(**task_fields(row))


class Rollout(msgspec.Struct, kw_only=True):
    """One sampled completion of a task."""

    task_id: str
    completion: str
    sample_id: str = ""
    sample_index: int | None = None
    kind: Kind | None = None
    """None: to be told from the text."""
    model: str | None = None
    group: str | None = None
    step: int | None = None
    expected_pass: bool | None = None
    """The grade that the source gave, if any; it never influences ours."""
    given_reward: float | None = None
    """The reward that the source gave, if any."""
    metadata: dict[str, JsonValue] = msgspec.field(default_factory=dict)
    line: int = 0


class Difference(msgspec.Struct, frozen=True):
    """Where expected and actual first differ.

    `line` and `column` count from 1 and are set for text; `path` (such as `[2]['name']`) for values.
    """

    message: str
    line: int | None = None
    column: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        return self.message


class Frame(msgspec.Struct, frozen=True):
    """One frame of a traceback, in the completion's own code. `line` counts from 1 in the extracted code."""

    line: int
    function: str
    text: str = ""


class Traceback(msgspec.Struct, frozen=True):
    """An exception as the completion raised it: outermost frame first, as Python prints it.

    With an empty `type`: where the completion was when a limit stopped it.
    """

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    omitted: int = 0
    """Frames left out of the middle (deep recursion)."""

    @property
    def line(self) -> int | None:
        """The innermost line of the completion's own code."""
        return self.frames[-1].line if self.frames else None


class CaseResult(msgspec.Struct, kw_only=True):
    """What one test case did. Times in seconds, memory in MiB (the process's peak so far)."""

    index: int
    verdict: Verdict
    expected: str | None = None
    actual: str | None = None
    difference: Difference | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    memory_mb: float | None = None
    stdout: str = ""
    """Head and tail where it was long; `stdout_bytes` is its true size."""
    stdout_bytes: int = 0
    stderr: str = ""
    stderr_bytes: int = 0
    exit_code: int | None = None
    """The program's exit status (stdin), negative for a signal; None where there was none."""
    error_type: str | None = None
    error_message: str | None = None
    traceback: Traceback | None = None

    @property
    def error_line(self) -> int | None:
        """The line of the extracted code to look at first."""
        return self.traceback.line if self.traceback else None


class Flag(msgspec.Struct, frozen=True):
    """Something seen beside the verdict, with what showed it."""

    word: str
    evidence: str


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """What one part of a reward came to. `reward` is None where that part could not be decided."""

    name: str
    reward: float | None
    weight: float = 1.0
    verdict: Verdict = Verdict.PASSED
    message: str | None = None


class CaseDisagreement(msgspec.Struct, frozen=True, kw_only=True):
    """One test case that ended otherwise in the two runs of a test suite, with what each said of it."""

    index: int
    apart: Verdict
    """With the test in a process of its own."""
    plain: Verdict
    """With the test in the completion's process."""
    apart_message: str = ""
    plain_message: str = ""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs of a test suite of which not both fail: see docs/checks.md."""

    apart: Verdict
    plain: Verdict
    cases: tuple[CaseDisagreement, ...] = ()
    """Those that differ."""
    last_operation: str = ""
    """What the test did last with an object of the completion's, where it ran apart from it; empty where nothing."""


class Grade(msgspec.Struct, kw_only=True):
    """What a rollout was found to be worth, and why."""

    task_id: str
    sample_id: str
    verdict: Verdict
    reward: float | None
    """None for `sandbox_error` and `unknown`: a grade that could not be made is not a 0."""
    verified: bool = True
    """False where the check could only be made inside the completion's own process."""
    unverified_reason: str | None = None
    """Why it is not verified, in one line; None where it is."""
    disagreement: Disagreement | None = None
    """Where the test suite, which did not pass apart from the completion, passes in the completion's own process."""
    pass_rate: float | None = None
    """Share of the test cases that passed, those not run included as not passed; None when unknown."""
    cases: tuple[CaseResult, ...] = ()
    components: tuple[Component, ...] = ()
    """What the reward is made of, where it has several parts."""
    flags: tuple[Flag, ...] = ()
    error_type: str | None = None
    error_message: str | None = None
    """Of the first failing test case; for `unknown` and `no_code`, the reason."""
    error_line: int | None = None
    checker: str | None = None
    grader: str = "tests"
    limits: Limits = msgspec.field(default_factory=Limits)
    layers: tuple[str, ...] = ()
    """The sandbox layers that held while it was graded."""
    code: str | None = None
    """What was extracted and run; None when nothing was."""
    kind: Kind | None = None
    """What the completion was taken for."""
    line_offset: int = 0
    """Line of the completion's text = line of `code` + this; not above 0 means: in the prompt."""
    duplicate_of: str | None = None
    """The sample with the same task and code whose grade this is."""

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED

    @property
    def tests_total(self) -> int:
        return len(self.cases)

    @property
    def tests_passed(self) -> int:
        return sum(case.verdict is Verdict.PASSED for case in self.cases)

    @property
    def first_failing_test(self) -> int | None:
        """Index of the first test case that did not pass."""
        return next((case.index for case in self.cases if case.verdict is not Verdict.PASSED), None)


class Opaque(msgspec.Struct, frozen=True):
    """A value that did not cross the sandbox's border because it is no data. Equal to nothing."""

    type: str
    text: str
    """Why it is no data, or its repr, shortened."""
