"""Writes tasks and rollouts as native rows, which `evaluator.formats.native` reads back as the same records."""

from __future__ import annotations

from collections.abc import Container

from evaluator import long_numbers
from evaluator.formats.native import METADATA_JSON, ROLLOUT_FIELDS
from evaluator.model import JsonValue, Mode, Rollout, Task
from evaluator.task_rows import TASK_FIELDS

Row = dict[str, JsonValue]


def task_row(task: Task) -> Row:
    """One task, with its metadata beside its fields."""
    return task_fields(task) | _beside(task.metadata, TASK_FIELDS)


def task_fields(task: Task) -> Row:
    """The fields of one task without its metadata. Empty ones are left out."""
    row: Row = {"task_id": task.task_id, "prompt": task.prompt, "mode": task.mode.value}
    if task.mode in (Mode.CALL, Mode.STDIN):
        row["in_outs"] = in_outs(task)
    optional: Row = {
        "suffix": task.suffix or None,
        "entry_point": task.entry_point,
        "test": task.test,
        "answer": task.answer,
        "preamble": task.preamble or None,
        "reference": task.reference,
        "checker": task.checker,
        "grader": task.grader,
        "exit_code": None if task.exit_code == "ignore" else task.exit_code,
        "weights": list(task.weights) if task.weights is not None else None,
        "limits": task.limits,
        "source": task.source or None,
        "licence": task.licence or None,
    }
    return row | {name: value for name, value in optional.items() if value is not None}


def in_outs(task: Task) -> Row:
    """The test cases of a call or stdin task, with the function's name if it has one."""
    outputs: list[JsonValue] = [case.expected for case in task.cases]
    if any(case.also is not None for case in task.cases):  # as values: texts would mean just this reading
        outputs = [long_numbers.loads(case.expected) for case in task.cases]
    pairs: Row = {"inputs": [case.input for case in task.cases], "outputs": outputs}
    return pairs | ({"fn_name": task.entry_point} if task.entry_point else {})


def rollout_row(rollout: Rollout) -> Row:
    """One rollout, with its metadata and the source's grade."""
    optional: Row = {
        "sample_id": rollout.sample_id or None,
        "sample_index": rollout.sample_index,
        "kind": rollout.kind.value if rollout.kind else None,
        "model": rollout.model,
        "group": rollout.group,
        "step": rollout.step,
        "expected_pass": rollout.expected_pass,
        "given_reward": rollout.given_reward,
        "recorded_verdict": rollout.recorded_verdict.value if rollout.recorded_verdict else None,
        "recorded_word": rollout.recorded_word,
        "recorded_by": rollout.recorded_by,
    }
    row: Row = {"task_id": rollout.task_id, "completion": rollout.completion}
    row |= {name: value for name, value in optional.items() if value is not None}
    return row | _beside(rollout.metadata, ROLLOUT_FIELDS)


def _beside(metadata: Row, fields: Container[str]) -> Row:
    """Metadata as fields of the row; those whose names are a field's are kept apart."""
    apart = {name: value for name, value in metadata.items() if name in fields or name == METADATA_JSON}
    others: Row = {name: value for name, value in metadata.items() if name not in apart}
    return others | {METADATA_JSON: apart} if apart else others
