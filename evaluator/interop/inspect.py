"""A scorer for inspect_ai that grades with Rollscope:

    Task(dataset=..., solver=generate(), scorer=code_tests())

The sample's metadata or target has its tests. inspect_ai is imported only when `code_tests` is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from evaluator import Grade, Task, agrade
from evaluator.formats.evaluation_logs import task_of_sample
from evaluator.formats.tests_alone import task_from, task_of_code
from evaluator.interop.program_results import LimitsLike, reward_options
from evaluator.model import JsonValue, RecordError, Verdict
from evaluator.options import Disagreements, Settings

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer

_MOST_SHOWN: Final = 2_000
"""Characters of one text in a score, which is kept in the log."""


def code_tests(
    tests: str | None = None,
    *,
    limits: LimitsLike = None,
    grader: str = "tests",
    disagreement: Disagreements = "unknown",
    python: str | None = None,
) -> Scorer:
    """A scorer for samples whose answer is code: correct if all tests passed. The task needs no sandbox.

    `tests`: the field of the sample's metadata that holds the tests, or "target"; None: they are found, as the samples
    of `inspect_evals` have them (docs/integrations/inspect.md). They are test code, or in any shape that
    `tests_alone.task_from` reads. `limits`: fields of `evaluator.Limits`, such as `{"wall_s": 5}`; None: its
    defaults. `grader`: with options, such as "tests:reward=fraction" for the share of tests. `disagreement`: as in
    `evaluator.grade`. `python`: path of the interpreter whose packages completions may import; None: this one, with
    numpy alone.

    A score has the value C or I (a number if `grader` has options), the code as `answer`, and verdict, flags and the
    first failing test in `metadata`. A sample that can't be graded is unscored (NaN, which metrics leave out), with the
    reason as explanation. Raises `RecordError` for bad `limits`; scoring raises `SandboxUnavailable` if there is none.
    """
    return _registered()(tests, limits, grader, disagreement, python)


@cache
def _registered() -> Callable[..., Scorer]:
    from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
    from inspect_ai.solver import TaskState

    def factory(
        tests: str | None, limits: LimitsLike, grader: str, disagreement: Disagreements, python: str | None
    ) -> Scorer:
        sandbox = Settings(python=python)
        options = reward_options(limits, grader=grader, disagreement=disagreement, sandbox=sandbox)

        async def score(state: TaskState, target: Target) -> Score:
            fields = {
                "id": state.sample_id,
                "metadata": state.metadata,
                "target": list(target),
                "input": state.input_text,
            }
            try:
                task = task_for(fields, tests)
            except RecordError as error:
                return Score(**unscored(str(error)))
            grade = await agrade(task, state.output.completion, options=options)
            return Score(**score_fields(task, grade, as_letter=(task.grader or grader) == "tests"))

        return score

    made: Callable[..., Scorer] = scorer(metrics=[accuracy(), stderr()], name="code_tests")(factory)
    return made


def task_for(sample: Mapping[str, JsonValue], tests: str | None = None) -> Task:
    """The task of a sample: `id`, `input`, `metadata` and `target` (a list of texts); `tests` as in `code_tests`.

    Raises `RecordError` if it has no tests, or none that can be read.
    """
    task = task_of_sample(sample) if tests is None else _task_of_field(sample, tests)
    if task is None:
        raise RecordError(
            "neither metadata nor target has tests that can be read: name the field with code_tests(tests=...)"
        )
    task.task_id = str(sample.get("id"))
    task.prompt = task.prompt or str(sample.get("input") or "")
    return task


def _task_of_field(sample: Mapping[str, JsonValue], name: str) -> Task:
    metadata = sample.get("metadata") or {}
    given = "\n".join(sample["target"]) if name == "target" else metadata.get(name)
    if given is None:
        raise RecordError(f"metadata has no field {name!r}; it has {', '.join(metadata) or 'none'}")
    if not isinstance(given, str) or given.lstrip().startswith(("{", "[")):
        return task_from(given, "task")
    entry_point, prompt = metadata.get("entry_point"), metadata.get("prompt")
    return task_of_code(given, "task", entry_point=entry_point, prompt=prompt if isinstance(prompt, str) else "")


def score_fields(task: Task, grade: Grade, *, as_letter: bool = True) -> dict[str, Any]:
    """The fields of the `Score` for a grade; its value is C or I if `as_letter`, else the reward."""
    if grade.reward is None:
        return unscored(f"{grade.verdict}: {grade.error_message or 'no reason was given'}", verdict=grade.verdict.value)
    failure = _first_failure(task, grade)
    return {
        "value": ("C" if grade.passed else "I") if as_letter else grade.reward,
        "answer": grade.code,
        "explanation": _explanation(grade, failure),
        "reason": "invalid_response_format" if grade.verdict is Verdict.NO_CODE else None,
        "metadata": {
            "verdict": grade.verdict.value,
            "reward": grade.reward,
            "verified": grade.verified,
            "tests_passed": grade.tests_passed,
            "tests_total": grade.tests_total,
            "error": _shortened(grade.error),
            "error_line": grade.error_line,
            "flags": {flag.word: flag.evidence for flag in grade.flags},
            "first_failure": failure,
        },
    }


def unscored(reason: str, **metadata: str) -> dict[str, Any]:
    """The fields of a `Score` that metrics leave out."""
    return {"value": math.nan, "reason": "scoring_failed", "explanation": f"not graded: {reason}", "metadata": metadata}


def _first_failure(task: Task, grade: Grade) -> dict[str, JsonValue] | None:
    """The first test case that did not pass: its number from 0, and what it says."""
    case = grade.first_failure
    if case is None or grade.code is None:
        return None
    from evaluator.graders.plans import test_cases  # the part that reads test suites: not at every start

    inputs = {each.index: each.input for each in test_cases(task)}
    texts = {
        "input": inputs.get(case.index),
        "expected": case.expected,
        "actual": case.actual,
        "difference": str(case.difference) if case.difference else case.error_message,
    }
    shown = {name: _shortened(text) for name, text in texts.items() if text}
    return {"index": case.index, "verdict": case.verdict.value, **shown}


def _explanation(grade: Grade, failure: Mapping[str, JsonValue] | None) -> str:
    lines = [f"{grade.verdict}: {grade.tests_passed} of {grade.tests_total} tests passed."]
    if failure:
        lines += ["", f"First failure, test {failure['index']}:"]
        lines += [f"- {name}: `{failure[name]}`" for name in ("input", "expected", "actual") if name in failure]
    if error := _shortened(grade.error):
        lines += ["", error + (f" (line {grade.error_line} of the code)" if grade.error_line else "")]
    if not grade.verified:
        lines += ["", f"Not verified: {grade.unverified_reason}"]
    return "\n".join(lines)


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text):,} characters)"
