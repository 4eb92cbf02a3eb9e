"""One rollout, test case or task with all its columns, and the id nearest to one that is not there."""

from __future__ import annotations

from typing import Any

import msgspec

from dashboard.queries.cache import cached
from dashboard.queries.expressions import FILE_ORDER
from dashboard.workspace import OpenRun
from evaluator.model import TestCase


@cached
def rollout(run: OpenRun, task_id: str, sample_id: str) -> dict[str, Any] | None:
    """All columns of one rollout, and `n_of_task`, `in_task`: its place among the task's samples."""
    sql = f"""
        WITH s AS (SELECT "row" AS at, row_number() OVER (ORDER BY {FILE_ORDER}) AS n_of_task,
                          count(*) OVER () AS in_task
                   FROM rollouts WHERE task_id = $task)
        SELECT r.*, s.n_of_task, s.in_task FROM rollouts r JOIN s ON r."row" = s.at
        WHERE r.task_id = $task AND r.sample_id = $sample ORDER BY r."row" LIMIT 1"""  # noqa: S608
    return _record(run, sql, {"task": task_id, "sample": sample_id})


@cached
def verdicts_of(run: OpenRun, task_id: str, sample_id: str) -> list[tuple[int, str]]:
    """(test index, verdict) of each test case of a rollout."""
    sql = "SELECT test_index, verdict FROM cases WHERE task_id = $task AND sample_id = $sample ORDER BY test_index"
    return run.rows(sql, {"task": task_id, "sample": sample_id})


@cached
def case(run: OpenRun, task_id: str, sample_id: str, test_index: int) -> dict[str, Any] | None:
    """All columns of one test case's result."""
    sql = """SELECT * FROM cases WHERE task_id = $task AND sample_id = $sample AND test_index = $test LIMIT 1"""
    return _record(run, sql, {"task": task_id, "sample": sample_id, "test": test_index})


@cached
def task(run: OpenRun, task_id: str) -> dict[str, Any] | None:
    """All columns of a task; None when the run's dataset does not have it."""
    return _record(run, "SELECT * FROM tasks WHERE task_id = $task LIMIT 1", {"task": task_id})


def test_cases(record: dict[str, Any]) -> list[TestCase]:
    """The test cases that the grader ran, from a task's record."""
    try:
        return msgspec.json.decode(record.get("cases") or "[]", type=list[TestCase])
    except (msgspec.DecodeError, msgspec.ValidationError):
        return []


@cached
def nearest(run: OpenRun, task_id: str, sample_id: str = "") -> str | None:
    """The id most like one that the run does not have: of a sample when `sample_id` is given, else of a task."""
    if sample_id:
        sql = """SELECT sample_id FROM rollouts WHERE task_id = $task
                 ORDER BY jaro_winkler_similarity(sample_id, $sample) DESC LIMIT 1"""
        found = run.rows(sql, {"task": task_id, "sample": sample_id})
    else:
        sql = """SELECT task_id FROM (SELECT DISTINCT task_id FROM rollouts UNION SELECT task_id FROM tasks)
                 ORDER BY jaro_winkler_similarity(task_id, $task) DESC, task_id LIMIT 1"""
        found = run.rows(sql, {"task": task_id})
    return found[0][0] if found else None


def _record(run: OpenRun, sql: str, params: dict[str, Any]) -> dict[str, Any] | None:
    cursor = run.connection.cursor().execute(sql, params)
    row = cursor.fetchone()
    if row is None:
        return None
    return dict(zip([column[0] for column in cursor.description], row, strict=True))
