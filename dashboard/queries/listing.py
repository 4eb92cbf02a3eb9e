"""Many rollouts on one screen: tasks x samples, one task's rollouts x test cases, a table."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from dashboard.queries.cache import cached
from dashboard.queries.expressions import FILE_ORDER, GRADED, LETTER, REASON
from dashboard.queries.filter_sql import where
from dashboard.queries.orders import GRID_SORTS, sort_key
from dashboard.queries.ranking import Ranking, ranking
from dashboard.state import Filter
from dashboard.workspace import OpenRun, Params

TASKS_PER_PAGE = 200
ROLLOUTS_PER_PAGE = 200
SAMPLES_SHOWN = 500
TABLE_COLUMNS = (
    "task_id", "sample_id", "model", "verdict", "unverified_reason", "reward", "tests_passed", "tests_total",
    "error_type", "error_message", "error_line", "flags", "wall_s", "memory_mb",
)  # fmt: skip


_SHOWN = {
    "error_message": "left(error_message, 200) AS error_message",
    "flags": "array_to_string(flags, ', ') AS flags",
    "unverified_reason": f"CASE WHEN NOT verified THEN left({REASON}, 200) END AS unverified_reason",
}


class GridRow(NamedTuple):
    task_id: str
    passed: int
    graded: int
    letters: str
    mask: str
    """'1' where the sample is inside the filter."""
    ids: list[str]
    """The samples, one per cell."""
    models: list[str]
    """The model of each sample; "" where there is none."""
    unverified: str
    """'1' where the sample is not verified."""


class CaseRow(NamedTuple):
    """A rollout of one task."""

    sample_id: str
    verdict: str
    inside: bool
    """Whether the filter lets it through."""
    letters: str
    """One per test case."""
    model: str
    """"" where there is none."""
    verified: bool


@cached
def task_count(run: OpenRun, filter_: Filter) -> int:
    """How many tasks have a rollout inside the filter."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT count(DISTINCT task_id) FROM rollouts WHERE {condition}", params)[0][0])  # noqa: S608


@cached
def grid(run: OpenRun, filter_: Filter, sort: str, page: int) -> list[GridRow]:
    """One page of tasks x samples. All samples of a task are shown; `mask` says which the filter lets through."""
    condition, params = where(filter_)
    key = GRID_SORTS.get(sort, GRID_SORTS[""])[1]
    sql = f"""
        WITH hit AS (SELECT DISTINCT task_id FROM rollouts WHERE {condition}),
             t AS (SELECT task_id, min("row") AS first, count(*) FILTER (verdict = 'passed') AS passed,
                          count(*) FILTER ({GRADED}) AS graded,
                          coalesce(sum(wall_s), 0) AS wall_s
                   FROM rollouts SEMI JOIN hit USING (task_id) GROUP BY task_id),
             p AS (SELECT *, row_number() OVER (ORDER BY {key}, first) AS place FROM t
                   ORDER BY place LIMIT $limit OFFSET $offset),
             c AS (SELECT task_id, string_agg({LETTER}, '' ORDER BY {FILE_ORDER}) AS letters,
                          string_agg(CASE WHEN {condition} THEN '1' ELSE '0' END, '' ORDER BY {FILE_ORDER}) AS mask,
                          list(sample_id ORDER BY {FILE_ORDER}) AS ids,
                          list(coalesce(model, '') ORDER BY {FILE_ORDER}) AS models,
                          string_agg(CASE WHEN verified THEN '0' ELSE '1' END, '' ORDER BY {FILE_ORDER}) AS unverified
                   FROM rollouts SEMI JOIN p USING (task_id) GROUP BY task_id)
        SELECT task_id, passed, graded, letters, mask, ids, models, unverified
        FROM p JOIN c USING (task_id) ORDER BY place"""  # noqa: S608
    return [GridRow(*row) for row in run.rows(sql, params | window(page, TASKS_PER_PAGE))]


class Sample(NamedTuple):
    sample_id: str
    verdict: str
    model: str | None


@cached
def samples(run: OpenRun, task_id: str, limit: int = ROLLOUTS_PER_PAGE) -> Ranking[Sample]:
    """A task's rollouts, in file order."""
    sql = f"""SELECT sample_id, verdict, model, count(*) OVER () FROM rollouts WHERE task_id = $task
              ORDER BY {FILE_ORDER} LIMIT $limit"""  # noqa: S608
    return ranking(run.rows(sql, {"task": task_id, "limit": limit}), Sample)


@cached
def case_grid(run: OpenRun, filter_: Filter, task_id: str) -> Ranking[CaseRow]:
    """A task's rollouts with the verdicts of their test cases."""
    condition, params = where(filter_)
    sql = f"""
        WITH r AS (SELECT sample_id, verdict, model, verified, coalesce(({condition}), false) AS inside,
                          row_number() OVER (ORDER BY {FILE_ORDER}) AS place, count(*) OVER () AS total
                   FROM rollouts WHERE task_id = $task ORDER BY place LIMIT {SAMPLES_SHOWN}),
             c AS (SELECT sample_id, string_agg({LETTER}, '' ORDER BY test_index) AS letters
                   FROM cases WHERE task_id = $task GROUP BY sample_id)
        SELECT r.sample_id, r.verdict, r.inside, coalesce(c.letters, ''), coalesce(r.model, ''), r.verified,
               r.total
        FROM r LEFT JOIN c USING (sample_id) ORDER BY r.place"""  # noqa: S608
    return ranking(run.rows(sql, params | {"task": task_id}), CaseRow)


def table(run: OpenRun, filter_: Filter, sort: str, page: int) -> pa.Table:
    """One page of rollouts as an Arrow table with `TABLE_COLUMNS`; messages are cut at 200 characters."""
    condition, params = where(filter_)
    columns = ", ".join(_SHOWN.get(column, column) for column in TABLE_COLUMNS)
    sql = f"""SELECT {columns} FROM rollouts WHERE {condition}
              ORDER BY {sort_key(sort)}, "row" LIMIT $limit OFFSET $offset"""  # noqa: S608
    return run.connection.cursor().sql(sql, params=params | window(page, ROLLOUTS_PER_PAGE)).to_arrow_table()


def window(page: int, size: int) -> Params:
    """The parameters of LIMIT and OFFSET for one page."""
    return {"limit": size, "offset": (page - 1) * size}
