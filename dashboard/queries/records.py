"""One rollout, test case or task as the pages show it, also with what is only in its file; and the id nearest to one
that is missing.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from dashboard.queries.expressions import FILE_ORDER, IN_PARTS
from dashboard.queries.query import cached, of_sample
from dashboard.workspace import OpenRun, Params
from evaluator.extraction import extract
from evaluator.model import Task, TestCase
from evaluator.runs.expressions import LOADING
from evaluator.runs.schema import column_names
from evaluator.runs.ungraded import PLACE, IndexedFile, Sample

T = TypeVar("T")


class RolloutRecord(msgspec.Struct, frozen=True):
    """A row of `rollouts`. A run of an older version has None in columns that it did not know."""

    row: int
    task_id: str
    sample_id: str
    model: str | None
    reward: float | None
    given_reward: float | None
    recorded_verdict: str | None
    recorded_word: str | None
    recorded_by: str | None
    verdict: str
    verified: bool
    unverified_reason: str | None
    disagreement: str | None
    tests_passed: int
    tests_total: int
    error_type: str | None
    error_message: str | None
    error_line: int | None
    first_failing_test: int | None
    wall_s: float | None
    memory_mb: float | None
    flags: list[str] | None
    flag_evidence: list[str] | None
    checker: str | None
    grader: str | None
    components: str | None
    code: str | None
    completion: str
    kind: str | None
    line_offset: int | None
    extracted_from: str | None
    duplicate_of: str | None
    layers: list[str] | None
    limits: str | None
    metadata: str | None
    number: int
    """Its place among the task's samples, from 1."""
    samples: int
    """How many samples the task has."""
    err: str | None
    """The name of its error cluster."""

    @property
    def loading(self) -> str:
        """How its code failed while it was loaded: `failed while loading: its own assert, line 43`; else ""."""
        if not (self.err or "").startswith(LOADING):
            return ""
        return f"{self.err}, line {self.error_line}" if self.error_line else str(self.err)


class CaseRecord(msgspec.Struct, frozen=True):
    """A row of `cases`."""

    test_index: int
    verdict: str
    expected: str | None
    actual: str | None
    difference: str | None
    diff_line: int | None
    wall_s: float | None
    stdout: str | None
    stdout_bytes: int | None
    stderr: str | None
    stderr_bytes: int | None
    error_type: str | None
    error_message: str | None
    error_line: int | None
    traceback: str | None
    excerpt: str | None


class TaskRecord(msgspec.Struct, frozen=True):
    """A row of `tasks`."""

    task_id: str
    mode: str
    prompt: str | None
    entry_point: str | None
    preamble: str | None
    reference: str | None
    test: str | None
    source: str | None
    test_hash: str | None
    task: str
    cases: str | None


Record = TypeVar("Record", RolloutRecord, CaseRecord, TaskRecord)


@cached
def rollout(run: OpenRun, task_id: str, sample_id: str) -> RolloutRecord | None:
    """The rollout with these ids."""
    sql = f"""
        WITH s AS (SELECT "row" AS at, err, row_number() OVER (ORDER BY {FILE_ORDER}) AS number,
                          count(*) OVER () AS samples
                   FROM rollouts WHERE task_id = $task)
        SELECT {_columns(RolloutRecord)} FROM stored_rollouts r JOIN s ON r."row" = s.at
        WHERE {IN_PARTS} AND task_id = $task AND sample_id = $sample ORDER BY "row" LIMIT 1"""  # noqa: S608
    found = of_sample(run, task_id, sample_id)
    return _first(run, RolloutRecord, sql, found)


@cached
def verdicts_of(run: OpenRun, task_id: str, sample_id: str) -> list[tuple[int, str]]:
    """(test index, verdict) of each test case of a rollout."""
    sql = f"""SELECT test_index, verdict FROM stored_cases
              WHERE {IN_PARTS} AND task_id = $task AND sample_id = $sample ORDER BY test_index"""  # noqa: S608
    return run.rows(sql, of_sample(run, task_id, sample_id))


@cached
def case(run: OpenRun, task_id: str, sample_id: str, test_index: int) -> CaseRecord | None:
    """The result of one test case of a rollout."""
    sql = f"""SELECT {_columns(CaseRecord)} FROM stored_cases
              WHERE {IN_PARTS} AND task_id = $task AND sample_id = $sample AND test_index = $test LIMIT 1"""  # noqa: S608
    found = of_sample(run, task_id, sample_id) | {"test": test_index}
    return _first(run, CaseRecord, sql, found)


@cached
def whole(run: OpenRun, task_id: str, sample_id: str, test_index: int | None) -> dict[str, dict[str, Any]]:
    """Every column of a rollout and of one of its test cases, as stored; for a single one only."""
    ids = of_sample(run, task_id, sample_id)
    found = {"rollout": _whole(run, "rollouts", 'ORDER BY "row" LIMIT 1', ids)}
    if test_index is not None:
        found["test case"] = _whole(run, "cases", "AND test_index = $test LIMIT 1", ids | {"test": test_index})
    return found


def _whole(run: OpenRun, table: str, rest: str, ids: Params) -> dict[str, Any]:
    names = column_names(table)
    columns = ", ".join(f'"{name}"' for name in names)
    sql = f"""SELECT {columns} FROM stored_{table}
              WHERE {IN_PARTS} AND task_id = $task AND sample_id = $sample {rest}"""  # noqa: S608
    return {name: value for row in run.rows(sql, ids) for name, value in zip(names, row, strict=True)}


@cached
def task(run: OpenRun, task_id: str) -> TaskRecord | None:
    """The task with this id; None when the run's dataset does not have it."""
    sql = f"SELECT {_columns(TaskRecord)} FROM tasks WHERE task_id = $task LIMIT 1"  # noqa: S608
    return _first(run, TaskRecord, sql, {"task": task_id})


def test_cases(record: TaskRecord) -> list[TestCase]:
    """The test cases that the grader ran."""
    return decoded(record.cases, list[TestCase]) or []


def decoded(text: str | None, kind: type[T]) -> T | None:
    """The value of a column that holds JSON; None where it is empty, or not what this version writes."""
    try:
        return msgspec.json.decode(text, type=kind) if text else None
    except msgspec.DecodeError:
        return None


@cached
def nearest(run: OpenRun, task_id: str, sample_id: str = "") -> str | None:
    """The known id that is most like a missing one: a sample's when `sample_id` is given, else a task's."""
    if sample_id:
        sql = """SELECT sample_id FROM rollouts WHERE task_id = $task
                 ORDER BY jaro_winkler_similarity(sample_id, $sample) DESC LIMIT 1"""
        found = run.rows(sql, {"task": task_id, "sample": sample_id})
    else:
        sql = """SELECT task_id FROM (SELECT DISTINCT task_id FROM rollouts UNION SELECT task_id FROM tasks)
                 ORDER BY jaro_winkler_similarity(task_id, $task) DESC, task_id LIMIT 1"""
        found = run.rows(sql, {"task": task_id})
    return found[0][0] if found else None


def prompt_in_file(run: OpenRun, record: RolloutRecord) -> str:
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


def _columns(kind: type[msgspec.Struct]) -> str:
    return ", ".join(f'"{name}"' for name in kind.__struct_fields__)


def _first(run: OpenRun, kind: type[Record], sql: str, params: Params) -> Record | None:
    rows = run.rows(sql, params)
    return kind(*rows[0]) if rows else None
