"""The dataset's tasks and test cases, with how many rollouts pass them."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries.cache import cached
from dashboard.queries.listing import TASKS_PER_PAGE, window
from dashboard.workspace import OpenRun


class TaskLine(NamedTuple):
    """A task with its counts; `nobody` and `everybody` count test cases, None where no rollout ran one."""

    task_id: str
    samples: int
    passed: int
    nobody: int | None
    everybody: int | None


class CaseCount(NamedTuple):
    """A test case, and how many rollouts passed it and ran it."""

    test_index: int
    passed: int
    ran: int


@cached
def task_total(run: OpenRun, q: str) -> int:
    """How many tasks of the dataset have `q` in their id."""
    sql = "SELECT count(*) FROM tasks WHERE contains(lower(task_id), lower($q))"
    return int(run.rows(sql, {"q": q})[0][0])


@cached
def task_lines(run: OpenRun, q: str, page: int) -> list[TaskLine]:
    """One page of the dataset's tasks with `q` in their id."""
    sql = """
        WITH p AS (SELECT task_id FROM tasks WHERE contains(lower(task_id), lower($q))
                   ORDER BY task_id LIMIT $limit OFFSET $offset),
             r AS (SELECT task_id, count(*) AS samples, count(*) FILTER (verdict = 'passed') AS passed
                   FROM rollouts SEMI JOIN p USING (task_id) GROUP BY task_id),
             i AS (SELECT task_id, test_index, count(*) FILTER (verdict = 'passed') AS ok,
                          count(*) FILTER (verdict <> 'not_run') AS ran
                   FROM cases SEMI JOIN p USING (task_id) GROUP BY task_id, test_index),
             s AS (SELECT task_id, count(*) FILTER (ok = 0 AND ran > 1) AS nobody,
                          count(*) FILTER (ok = ran AND ran > 1) AS everybody FROM i GROUP BY task_id)
        SELECT p.task_id, coalesce(samples, 0), coalesce(passed, 0), nobody, everybody
        FROM p LEFT JOIN r USING (task_id) LEFT JOIN s USING (task_id) ORDER BY p.task_id"""
    return [TaskLine(*row) for row in run.rows(sql, {"q": q} | window(page, TASKS_PER_PAGE))]


@cached
def case_counts(run: OpenRun, task_id: str) -> list[CaseCount]:
    """The test cases of a task, in order."""
    sql = """SELECT test_index, count(*) FILTER (verdict = 'passed'), count(*) FILTER (verdict <> 'not_run')
             FROM cases WHERE task_id = $task GROUP BY test_index ORDER BY test_index"""
    return [CaseCount(*row) for row in run.rows(sql, {"task": task_id})]
