"""ColossalAI's `code_reward_fn`: 10 for code that passes all its tests and is in a Python fence, else 0.

The code is what follows the last "```python", up to the next fence; without one the whole text, which then earns
nothing. It is run and compared as `evaluator.interop.colossalai.run_test` does. With `max_new_tokens` long responses
lose up to 10, in proportion, within the last `overlong_tokens` before it, and everything from there on. Their length
is the rollout's own `response_length`, in tokens.

A task without test cases is `unknown`; the original pays it in full. Source: ColossalAI's `reward_fn.py`, as observed.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from evaluator.cases import Bench, not_run, result_of
from evaluator.checkers import brief
from evaluator.graders.answers import conclude, unknown_grade
from evaluator.graders.colossalai_testing.run import Asked, CaseCode, InOutsError, run_tests
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import CaseResult, Component, Difference, Grade, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import task_limits

_FENCE: Final = "```python"
_FULL: Final = 10.0


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`max_new_tokens`, `overlong_tokens`: where the length penalty ends, and how long it is; None: no penalty.

    `need_fence`: whether code without a Python fence earns nothing. `strict`: compare like the original, see docs.
    """

    max_new_tokens: int | None = None
    overlong_tokens: int = 0
    need_fence: bool = True
    strict: bool = False


def make(config: Config) -> Grader:
    if config.max_new_tokens is not None and not 0 <= config.overlong_tokens < config.max_new_tokens:
        raise GraderError("grader colossalai: overlong_tokens must be 0 or more, and less than max_new_tokens")
    return Grader(
        "colossalai",
        partial(_grade, config),
        lambda task: task.cases,
        -_FULL,
        _FULL,
        kept_by=lambda _, rollout: rollout.metadata.get("response_length"),
    )


def _grade(config: Config, task: Task, rollout: Rollout, bench: Bench) -> Grade:
    limits = task_limits(task, bench.options)
    code, lines_before, fenced = _solution(rollout.completion)
    grade = unknown_grade(rollout, "colossalai")
    grade.limits, grade.checker = limits, "colossalai"
    grade.code, grade.line_offset = code, lines_before
    length = rollout.metadata.get("response_length")
    if (reason := _why_ungradable(config, task, length)) is not None:
        grade.error_message = reason
        return grade
    by_value = task.mode is Mode.CALL
    in_outs = {
        "fn_name": task.entry_point if by_value else None,
        "inputs": [case.input for case in task.cases],
        "outputs": [case.expected for case in task.cases],
    }
    try:
        report = run_tests(in_outs, code, Asked(limits.wall_s, strict=config.strict), bench)
    except InOutsError as error:
        grade.error_message = str(error)
        return grade
    grade.layers = bench.sandbox.layers
    ran = [_case(case, result, by_value) for case, result in zip(task.cases, report.cases, strict=False)]
    grade.cases = (*ran, *map(not_run, task.cases[len(ran) :]))
    conclude(grade)
    _reward(grade, config, fenced, length if isinstance(length, int) else 0)
    return grade


def _solution(text: str) -> tuple[str, int, bool]:
    """The code, how many lines are before it, and whether it is in a fence."""
    before, fence, after = text.rpartition(_FENCE)
    if not fence:
        return text, 0, False
    code = after.partition("```")[0]
    stripped = code.lstrip("\n")
    return stripped, before.count("\n") + len(code) - len(stripped), True


def _why_ungradable(config: Config, task: Task, length: object) -> str | None:
    if task.mode not in (Mode.CALL, Mode.STDIN):
        return f"the grader colossalai needs inputs and outputs: a task of mode {task.mode} has none"
    if not task.cases:
        return "the task has no test cases"
    if config.max_new_tokens is not None and (not isinstance(length, int) or isinstance(length, bool)):
        return "the length penalty needs response_length, in tokens, in the rollout's row"
    return None


def _case(case: TestCase, ran: CaseCode, by_value: bool) -> CaseResult:
    result = result_of(case.index, ran.outcome)
    result.verdict, result.expected, result.actual = ran.verdict, case.expected, ran.actual
    if "error" in ran.info:
        result.error_message = ran.info["error"]
        result.error_type = ran.info["error"].partition("(")[0]
    elif ran.verdict is Verdict.WRONG_ANSWER:
        message = f"expected {brief(case.expected)}, got {brief(ran.actual)}"
        result.difference = Difference(message if by_value else f"wrong output: {message}")
    return result


def _reward(grade: Grade, config: Config, fenced: bool, length: int) -> None:
    right = grade.verdict is Verdict.PASSED
    penalty = _penalty(config, length) if right else 0.0
    grade.components = (
        Component(name="answer", reward=float(right), weight=_FULL, verdict=grade.verdict),
        Component(
            name="format",
            reward=float(fenced),
            weight=0.0,
            message=None if fenced else f"no {_FENCE} in the response",
            verdict=Verdict.PASSED if fenced else Verdict.WRONG_ANSWER,
        ),
        Component(name="length", reward=penalty, message=f"{length} tokens" if config.max_new_tokens else None),
    )
    too_long = config.max_new_tokens is not None and length >= config.max_new_tokens
    grade.reward = 0.0 if too_long else _FULL * (right and (fenced or not config.need_fence)) + penalty


def _penalty(config: Config, length: int) -> float:
    """0 up to the free length, then negative in proportion to the tokens above it."""
    if config.max_new_tokens is None or not config.overlong_tokens:
        return 0.0
    free = config.max_new_tokens - config.overlong_tokens
    return (free - length) / config.overlong_tokens * _FULL if free < length < config.max_new_tokens else 0.0
