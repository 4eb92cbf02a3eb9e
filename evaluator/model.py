"""The records that every part of Rollscope shares: tasks, rollouts, limits, verdicts and grades.

They are `msgspec.Struct`s: typed, cheap to make, and readable and writable as JSON by `msgspec`.
Nothing here reads a file, runs a program or compares an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal, NoReturn, Self

import msgspec

from evaluator.tasks.parts import JsonValue, Limits, Mode, RecordError, TestCase, brief, limits_from
from evaluator.tasks.rows import task_fields

_OTHER_FORMATS: Final = "evaluator.load_task reads rows of other formats, such as LiveCodeBench's and MBPP's"

__all__ = [
    "NO_REASON",
    "SPLIT_DISAGREES",
    "CaseDisagreement",
    "CaseResult",
    "Component",
    "Difference",
    "Disagreement",
    "Excerpt",
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
"""Shown for a grade that is not verified and has no `unverified_reason`."""
SPLIT_DISAGREES: Final = "split_disagrees"
"""The reason of a grade whose test suite fails in two processes and passes in one."""


class Kind(StrEnum):
    """The kind of a completion's text: a program, the rest of the prompt, or a chat answer with fenced code."""

    FULL = "full"
    CONTINUATION = "continuation"
    CHAT = "chat"


class Verdict(StrEnum):
    """The result of a test case or a rollout, in display order."""

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
        """The character in a grid cell."""
        return _LETTERS[self]

    @property
    def graded(self) -> bool:
        """Whether it allows a reward: false if the fault is ours or nothing could be decided."""
        return self not in (Verdict.SANDBOX_ERROR, Verdict.UNKNOWN)


_LETTERS: Final = dict(zip(Verdict, "PWECTMONRS?.", strict=True))


class Task(msgspec.Struct, kw_only=True):
    """A prompt with the test cases that decide whether a completion answers it."""

    task_id: str
    mode: Mode
    prompt: str = ""
    suffix: str = ""
    """Code after the completion (infilling)."""
    entry_point: str | None = None
    """The function that is called; None for stdin."""
    cases: tuple[TestCase, ...] = ()
    """call and stdin. Empty for assert and unittest, whose cases are read from `test`."""
    test: str | None = None
    """assert: code that defines `check(candidate)`. unittest: code with TestCase classes."""
    preamble: str = ""
    """Code that the dataset puts before every completion (imports)."""
    reference: str | None = None
    """A solution that came with the dataset, if any."""
    answer: JsonValue = None
    """answer: the right answer in its grader's form (a text, or a list of accepted ones)."""
    checker: str | None = None
    checker_code: str | None = None
    """stdin: a checker's source, a program that is run in the sandbox (docs/concepts/checkers.md)."""
    grader: str | None = None
    """Its grader and options: see `evaluator.graders.spec`."""
    exit_code: Literal["ignore", "strict"] = "ignore"
    weights: tuple[float, ...] | None = None
    limits: dict[str, float] | None = None
    """Only the limits in the row; the run's apply to the others."""
    time_limit: float | None = None
    """Seconds per test case that the dataset states for compiled programs: see `Options.time_factor`."""
    memory_limit: float | None = None
    """MiB that the dataset states."""
    source: str = ""
    licence: str = ""
    metadata: dict[str, JsonValue] = msgspec.field(default_factory=dict)
    """The row's other fields, unchanged."""
    line: int = 0
    """The row's line in its file, from 1; 0 if it did not come from a file."""

    @classmethod
    def from_row(cls, row: Mapping[str, JsonValue]) -> Self:
        """A task from a row in the native format (docs/reference/formats.md).

        >>> from evaluator import Task
        >>> task = Task.from_row({"task_id": 7, "in_outs": {"inputs": [[1, 2]], "outputs": [3], "fn_name": "add"}})
        >>> task.task_id, task.mode.value, task.cases[0].input
        ('7', 'call', '1\\n2')
        >>> Task.from_row({"task_id": "add", "mode": "call"})
        Traceback (most recent call last):
        evaluator.tasks.parts.RecordError: entry_point is missing: a task of mode call must name the function to call

        Args:
            row: An object from JSON; only `task_id` is required. Without `mode`: assert if there is a `test`, answer
                if there is an `answer` and no `in_outs`, call if a function is named, else stdin. `in_outs` may also
                be its JSON text. call: an input that is a list has one argument per item, a text has one JSON value
                per line. `limits` are seconds and MiB (see `Limits`); absent ones are the run's. `time_limit` and
                `memory_limit` are numbers, or texts such as `2 seconds`. Unknown fields are kept in `metadata`.

        Raises:
            RecordError: `task_id` is missing, a field has the wrong type or value, a call or assert task names no
                function, or nothing decides: there are no tests, no `answer` (or mode answer) and no `grader`. One
                line that says what to write instead.
        """
        try:
            task = cls(**task_fields(row))
        except RecordError as error:
            if "task_id" in row:
                raise
            raise RecordError(f"{error}; {_OTHER_FORMATS}") from None
        if task.is_undecided:
            raise RecordError(f"the row has no tests: give in_outs, test, answer or grader; {_OTHER_FORMATS}")
        return task

    @property
    def is_undecided(self) -> bool:
        """Whether it is to be tested and has no tests, nor a grader of its own: its grades are `unknown`, by most."""
        return self.mode is not Mode.ANSWER and not (self.cases or self.test or self.grader)


class Rollout(msgspec.Struct, kw_only=True):
    """One sampled completion of a task."""

    task_id: str
    completion: str
    sample_id: str = ""
    sample_index: int | None = None
    kind: Kind | None = None
    """None: detected from the text."""
    model: str | None = None
    group: str | None = None
    step: int | None = None
    expected_pass: bool | None = None
    """The grade that the source gave, if any; it never influences ours."""
    given_reward: float | None = None
    """The reward that the source gave, if any."""
    recorded_verdict: Verdict | None = None
    """The source's own grade in our words, if it has one."""
    recorded_word: str | None = None
    """The same in the source's words, such as `timed out`."""
    recorded_by: str | None = None
    """What made that grade: the name of a grader or a benchmark."""
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


class Excerpt(msgspec.Struct, frozen=True):
    """Which part of a long expected and actual output is kept: the same part of both, around their first difference.

    Each side has the number of units that are left out before the part, and the number of all.
    """

    unit: Literal["line", "item", "character"]
    expected: tuple[int, int]
    actual: tuple[int, int]


class Frame(msgspec.Struct, frozen=True):
    """One frame of a traceback, in the completion's own code. `line` counts from 1 in the extracted code."""

    line: int
    function: str
    text: str = ""


class Traceback(msgspec.Struct, frozen=True):
    """An exception of the completion: outermost frame first, as Python prints it.

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
    """The result of one test case. Times in seconds, memory in MiB (the process's peak so far)."""

    index: int
    verdict: Verdict
    expected: str | None = None
    actual: str | None = None
    difference: Difference | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    memory_mb: float | None = None
    stdout: str = ""
    """Head and tail if it was long; `stdout_bytes` is its true size."""
    stdout_bytes: int = 0
    stderr: str = ""
    stderr_bytes: int = 0
    exit_code: int | None = None
    """The program's exit status (stdin), negative for a signal; None if there was none."""
    error_type: str | None = None
    error_message: str | None = None
    traceback: Traceback | None = None
    excerpt: Excerpt | None = None
    """Set if `expected` and `actual` are parts of longer ones around the first difference."""

    @property
    def reason(self) -> str | None:
        """Why it did not pass, in one line."""
        return self.error_message or (self.difference.message if self.difference else None)

    @property
    def error_line(self) -> int | None:
        """The line of the extracted code to look at first."""
        return self.traceback.line if self.traceback else None


class Flag(msgspec.Struct, frozen=True):
    """An observation besides the verdict, with its evidence."""

    word: str
    evidence: str


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a reward. `reward` is None if that part could not be decided."""

    name: str
    reward: float | None
    weight: float = 1.0
    verdict: Verdict = Verdict.PASSED
    message: str | None = None


class CaseDisagreement(msgspec.Struct, frozen=True, kw_only=True):
    """One test case with different results in the two runs of a test suite, and their messages."""

    index: int
    apart: Verdict
    """With the test in a separate process."""
    plain: Verdict
    """With the test in the completion's process."""
    apart_message: str = ""
    plain_message: str = ""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs of a test suite that disagree: see docs/concepts/checks.md."""

    apart: Verdict
    plain: Verdict
    cases: tuple[CaseDisagreement, ...] = ()
    """Those that differ."""


class Grade(msgspec.Struct, kw_only=True):
    """The result of a rollout: verdict, reward and reasons."""

    task_id: str
    sample_id: str
    verdict: Verdict
    reward: float | None
    """None for `sandbox_error` and `unknown`: a missing grade is not a 0."""
    verified: bool = True
    """False if the completion could have influenced the verdict, because it was decided in its own process."""
    unverified_reason: str | None = None
    """Why it is not verified, in one line; None if it is."""
    disagreement: Disagreement | None = None
    """Set if the test suite does not pass in two processes but passes in one."""
    pass_rate: float | None = None
    """Share of the test cases that passed; those not run count as not passed. None if unknown."""
    cases: tuple[CaseResult, ...] = ()
    components: tuple[Component, ...] = ()
    """The parts of the reward, if it has several."""
    flags: tuple[Flag, ...] = ()
    error_type: str | None = None
    error_message: str | None = None
    """Of the first failing test case; for `unknown` and `no_code`, the reason."""
    error_line: int | None = None
    checker: str | None = None
    grader: str = "tests"
    limits: Limits = msgspec.field(default_factory=Limits)
    layers: tuple[str, ...] = ()
    """The sandbox layers that were active while it was graded."""
    code: str | None = None
    """The code that was extracted and run, if any."""
    kind: Kind | None = None
    """The kind of text that the completion was treated as."""
    line_offset: int = 0
    """Line of the completion's text = line of `code` + this; 0 or less means: in the prompt."""
    extracted_from: str | None = None
    """Which part of the completion `code` is, and why."""
    duplicate_of: str | None = None
    """The sample with the same task and code whose grade this is."""
    cached: bool = False
    """Whether an earlier run made it, and its times: it is from the cache of grades."""

    def __repr__(self) -> str:
        tests = f"{self.tests_passed} of {self.tests_total} tests passed" if self.cases else ""
        about = ", ".join(filter(None, (f"reward {self.reward}", tests, brief(self.error) if self.error else "")))
        return f"<Grade {self.sample_id}: {self.verdict}, {about}>"

    def __bool__(self) -> NoReturn:
        """Raises `TypeError`: false could mean that it failed, or that there is no grade."""
        raise TypeError("a Grade is neither true nor false: ask for its passed, or its reward, which may be None")

    def to_dict(self) -> dict[str, JsonValue]:
        """Its fields in plain values that `json` writes, with `passed`."""
        return {**msgspec.to_builtins(self), "passed": self.passed}

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED

    @property
    def error(self) -> str:
        """`TYPE: MESSAGE`, or what of it there is: of the first failing test, or why there is no grade; else empty."""
        return ": ".join(part for part in (self.error_type, self.error_message) if part)

    @property
    def tests_total(self) -> int:
        return len(self.cases)

    @property
    def tests_passed(self) -> int:
        return sum(case.verdict is Verdict.PASSED for case in self.cases)

    @property
    def first_failure(self) -> CaseResult | None:
        """The first test case that did not pass."""
        return next((case for case in self.cases if case.verdict is not Verdict.PASSED), None)

    @property
    def first_failing_test(self) -> int | None:
        """Its index."""
        return self.first_failure.index if self.first_failure else None


class Opaque(msgspec.Struct, frozen=True):
    """A value that did not leave the sandbox because it is not data. Equal to nothing."""

    type: str
    text: str
    """Why it is not data, or its repr, shortened."""
    truth: bool | None = None
    """What `bool` made of it in the sandbox; None if that raised, or nobody asked."""
