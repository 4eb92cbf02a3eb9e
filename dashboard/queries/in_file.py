"""What rollouts that are not graded have in their file: the prompt, and their code as the dataset's task reads it."""

from __future__ import annotations

import msgspec

from dashboard.queries.records import RolloutRecord, TaskRecord, decoded
from dashboard.workspace import OpenRun
from evaluator.extraction import extract
from evaluator.model import Task
from evaluator.runs.ungraded import PLACE, IndexedFile, Sample


def prompt(run: OpenRun, record: RolloutRecord) -> str:
    """The prompt in the rollout's row; "" without one."""
    sample = _sample(run, record)
    return sample.prompt if sample is not None else ""


def with_code_of(run: OpenRun, record: RolloutRecord, task: TaskRecord | None) -> RolloutRecord:
    """The rollout with the code that would be graded: a continuation, for example, starts with the task's prompt."""
    sample, of = _sample(run, record), decoded(task.task, Task) if task and run.manifest.dataset else None
    found = extract(sample.rollout.completion, task=of, kind=sample.rollout.kind) if sample and of else None
    if found is None:
        return record
    return msgspec.structs.replace(
        record,
        code=found.code,
        kind=found.kind.value,
        line_offset=found.line_offset,
        extracted_from=found.extracted_from,
    )


def _sample(run: OpenRun, record: RolloutRecord) -> Sample | None:
    if not isinstance(run.run, IndexedFile):
        return None
    names = ", ".join(f'"{name}"' for name in PLACE)
    sql = f"""SELECT {names} FROM stored_rollouts
              WHERE part_file = (SELECT part_file FROM rollouts WHERE "row" = $row) AND "row" = $row"""  # noqa: S608
    [place] = run.rows(sql, {"row": record.row})
    return run.run.texts.sample(*place)
