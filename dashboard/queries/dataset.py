"""The dataset's tasks and test cases, with how many rollouts pass them and why some are suspect."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from dashboard.queries import parts, suspects
from dashboard.queries.cache import cached
from dashboard.queries.expressions import INFINITY, RAN
from dashboard.queries.filter_sql import where
from dashboard.queries.listing import TASKS_PER_PAGE, window
from dashboard.queries.parts import IN_PARTS
from dashboard.state import Filter
from dashboard.workspace import OpenRun, Params

SORTS: dict[str, tuple[str, str]] = {
    "": ("suspects first", "coalesce(-weight, 0), id_key, task_id"),
    "task": ("task id", "id_key, task_id"),
    "file": ("file order", "place"),
    "rate": ("lowest pass rate first", f"coalesce(passed / nullif(graded, 0), {INFINITY}), id_key, task_id"),
    "random": ("random sample", "md5($seed || chr(10) || task_id), task_id"),
}
"""Orders of the list of tasks: URL word -> (label, ascending key). For a random sample see `RandomSample`."""

_RANDOM = re.compile(r"random:(\d{1,6}):(-?\d{1,9})")
_NAMED = 3
"""Test cases that a reason names."""


class RandomSample(NamedTuple):
    """Some tasks in an order that only the seed decides."""

    size: int = 20
    seed: int = 0

    @property
    def word(self) -> str:
        """The word of this sample in the URL's `sort`."""
        return f"random:{self.size}:{self.seed}"


class Reason(NamedTuple):
    """Why a task is suspect, for all of its test cases of one kind of reason."""

    kind: str
    why: str
    """Of the most suspect test case."""
    tests: list[int]
    """The first few; empty where it is about the whole task."""
    cases: int


class TaskLine(NamedTuple):
    """A task with its counts over all of its rollouts. One without a grade is not a failure."""

    task_id: str
    graded: int
    passed: int
    tests: int
    reasons: list[Reason]
    """The most suspect first."""


class CaseCount(NamedTuple):
    """A test case, and how many rollouts passed it and ran it."""

    test_index: int
    passed: int
    ran: int


def random_sample(sort: str) -> RandomSample | None:
    """The sample of tasks that the URL's `sort` names."""
    found = _RANDOM.fullmatch(sort)
    return RandomSample(max(1, int(found[1])), int(found[2])) if found else None


def task_total(run: OpenRun, filter_: Filter, sort: str = "") -> int:
    """How many tasks there are to list: those with a rollout in the filter; its text is looked for in their ids."""
    suspects.prepare(run)
    condition, params = _listed(filter_)
    total = int(run.rows(f"SELECT count(*) FROM task_list WHERE {condition}", params)[0][0])  # noqa: S608
    sample = random_sample(sort)
    return min(total, sample.size) if sample else total


def task_lines(run: OpenRun, filter_: Filter, sort: str, page: int) -> list[TaskLine]:
    """One page of these tasks."""
    suspects.prepare(run)
    condition, params = _listed(filter_)
    sample = random_sample(sort)
    key, at = SORTS["random" if sample else sort if sort in SORTS else ""][1], window(page, TASKS_PER_PAGE)
    if sample:
        params |= {"seed": str(sample.seed)}
        at["limit"] = max(0, min(TASKS_PER_PAGE, sample.size - (page - 1) * TASKS_PER_PAGE))
    sql = f"""
        WITH s AS (SELECT task_id, max(weight) AS weight FROM suspects GROUP BY task_id)
        SELECT task_id, graded, passed, coalesce(tests, 0) FROM task_list LEFT JOIN s USING (task_id)
        WHERE {condition} ORDER BY {key} LIMIT $limit OFFSET $offset"""  # noqa: S608
    rows = run.rows(sql, params | at)
    reasons = _reasons(run, [row[0] for row in rows])
    return [TaskLine(*(*row, reasons.get(row[0], []))) for row in rows]


@cached
def case_counts(run: OpenRun, task_id: str) -> list[CaseCount]:
    """The test cases of a task, in order."""
    sql = f"""SELECT test_index, count(*) FILTER (verdict = 'passed'), count(*) FILTER ({RAN})
             FROM stored_cases WHERE {IN_PARTS} AND task_id = $task GROUP BY test_index ORDER BY test_index"""  # noqa: S608
    return [CaseCount(*row) for row in run.rows(sql, parts.of_task(run, task_id))]


def _reasons(run: OpenRun, task_ids: list[str]) -> dict[str, list[Reason]]:
    sql = f"""
        SELECT task_id, kind, arg_max(why, weight), coalesce(list(test_index ORDER BY weight DESC, test_index)
               FILTER (test_index IS NOT NULL)[:{_NAMED}], []), count(*)
        FROM suspects WHERE list_contains($ids, task_id) GROUP BY task_id, kind ORDER BY max(weight) DESC, kind"""  # noqa: S608
    found: dict[str, list[Reason]] = {}
    for task_id, *reason in run.rows(sql, {"ids": task_ids}) if task_ids else ():
        found.setdefault(task_id, []).append(Reason(*reason))
    return found


def _listed(filter_: Filter) -> tuple[str, Params]:
    others = msgspec.structs.replace(filter_, q="")
    condition, params = where(others)
    conditions = ["contains(lower(task_id), lower($q))"] if filter_.q else []
    if others:
        conditions.append(f"task_id IN (SELECT task_id FROM rollouts WHERE {condition})")  # noqa: S608
    return " AND ".join(conditions) or "true", params | ({"q": filter_.q} if filter_.q else {})
