"""open-instruct's code API: which tests a program passes. `rollscope serve sandbox-fusion` answers with it.

Source: `open_instruct/code_utils`. open-instruct is not imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Final

import msgspec

from evaluator import syntax
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.tests_alone import task_of_code
from evaluator.given_tests import stdin_input
from evaluator.import_headers import LIVECODEBENCH
from evaluator.interop.program_results import SHARE
from evaluator.model import Grade, JsonValue, Kind, Limits, Mode, RecordError, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.workers.single import agrade_together

_FAILED_S: Final = -1.0
_SLACK_S: Final = 5.0
_ID: Final = "program"
_SHOWN: Final = 100


class Request(msgspec.Struct):
    """A request. Unknown fields are ignored."""

    program: str
    tests: JsonValue
    """A list, or its JSON text: of asserts, or of `{input, output}`."""
    max_execution_time: float = 1.0
    """Seconds per test."""


class Results(msgspec.Struct):
    """Per test: 1 or 0, and the seconds that it took, -1.0 if it failed."""

    results: list[int]
    runtimes: list[float]


class UngradedError(RuntimeError):
    """The sandbox failed: there are no results."""


async def results_of_asserts(request: Request, limits: Limits) -> Results:
    """Runs asserts, each as if it were the only one. `limits`: of what the request does not set.

    Raises `RecordError` for tests that can't be read, `UngradedError`, `SandboxUnavailable`.

        request = Request("def add(a, b): return a + b", ["assert add(1, 2) == 3"])
        (await results_of_asserts(request, Limits())).results  # [1]
    """
    tests = [_statement(number, test) for number, test in enumerate(_listed(request.tests))]
    if syntax.tree_of(request.program) is None:
        return Results([0] * len(tests), [_FAILED_S] * len(tests))

    def task(chosen: Sequence[int]) -> Task:
        return task_of_code("\n".join(tests[number] for number in chosen), _ID)

    # Another verdict may be due to what an earlier assert left behind, or to another one's missing function.
    return await _results(request, limits, len(tests), task, {Verdict.PASSED, Verdict.TIME_LIMIT})


async def results_of_stdio(request: Request, limits: Limits) -> Results:
    """Runs a program on inputs and compares what it prints as LiveCodeBench does. As `results_of_asserts` otherwise."""
    cases = [_case(number, test) for number, test in enumerate(_listed(request.tests))]

    def task(chosen: Sequence[int]) -> Task:
        some = tuple(msgspec.structs.replace(cases[number], index=index) for index, number in enumerate(chosen))
        return Task(task_id=_ID, mode=Mode.STDIN, cases=some, preamble=LIVECODEBENCH, checker="livecodebench")

    return await _results(request, limits, len(cases), task, set(Verdict) - {Verdict.NOT_RUN})


async def _results(
    request: Request, limits: Limits, count: int, task: Callable[[Sequence[int]], Task], final: Set[Verdict]
) -> Results:
    """Grades all tests together, and those without a final verdict once more, each apart.

    `task`: makes a task of the tests with these numbers.
    """
    if not count:
        return Results([], [])
    [together] = await _grades(request, limits, [task(range(count))], count)
    found: dict[int, tuple[bool, float]] = {}
    if together.reward is not None and len(together.cases) == count:
        found = {
            number: (case.verdict is Verdict.PASSED, case.wall_s or 0.0)
            for number, case in enumerate(together.cases)
            if case.verdict in final
        }
    others = [number for number in range(count) if number not in found]
    apart = await _grades(request, limits, [task([each]) for each in others], 1) if count > 1 else [together]
    for number, grade in zip(others, apart, strict=False):
        if grade.verdict is Verdict.UNKNOWN:
            raise RecordError(f"tests[{number}] can't be graded: {grade.error_message}")
        if grade.reward is None:
            raise UngradedError(f"the sandbox failed, and the program may be right: {grade.error_message}")
        found[number] = (grade.passed, sum(case.wall_s or 0.0 for case in grade.cases))
    return Results(
        [int(found[number][0]) for number in range(count)],
        [found[number][1] if found[number][0] else _FAILED_S for number in range(count)],
    )


async def _grades(request: Request, limits: Limits, tasks: Sequence[Task], count: int) -> list[Grade]:
    """`count`: how many tests each task has."""
    seconds = request.max_execution_time
    limits = msgspec.structs.replace(limits, wall_s=seconds, cpu_s=seconds, total_s=seconds * count + _SLACK_S)
    # The reward only says that later tests count after a failure.
    options = Options(limits=limits, grader=SHARE, disagreement="fail")
    rollout = Rollout(task_id=_ID, completion=request.program, kind=Kind.FULL)
    return await agrade_together([(task, rollout) for task in tasks], options)


# --- the request


def _listed(tests: JsonValue) -> list[JsonValue]:
    if isinstance(tests, str) and tests:
        try:
            tests = decode_json(tests)
        except JsonError as error:
            raise RecordError(
                f"tests is text that is {error}; packed tests, which are pickles, are never loaded"
            ) from None
    if not tests:
        return []
    if not isinstance(tests, list):
        raise RecordError(f"tests must be a list, not {type(tests).__name__}")
    return tests


def _statement(number: int, test: JsonValue) -> str:
    if not isinstance(test, str) or not test.strip():
        raise RecordError(f"tests[{number}] must be an assert, such as 'assert add(1, 2) == 3'")
    if syntax.tree_of(test.strip()) is None:
        raise RecordError(f"tests[{number}] is not valid Python: {test.strip()[:_SHOWN]!r}")
    return test.strip()


def _case(number: int, test: JsonValue) -> TestCase:
    given, expected = (test.get("input"), test.get("output")) if isinstance(test, Mapping) else (None, None)
    if not isinstance(given, str) or not isinstance(expected, str):
        raise RecordError(
            f'tests[{number}] must have an input and an output that are text: {{"input": "1", "output": "2"}}'
        )
    return TestCase(number, stdin_input(given), expected)
