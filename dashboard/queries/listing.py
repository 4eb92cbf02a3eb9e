"""Many rollouts on one screen: tasks x samples, one task's rollouts x test cases, a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dashboard.queries.expressions import FILE_ORDER, GRADED, IN_PARTS, LETTER
from dashboard.queries.orders import COLUMNS, GRID_SORTS, GROUP_SORTS, GROUPS, direction, order
from dashboard.queries.query import Ranking, cached, number, of_task, ranked, ranking, rows, where
from dashboard.state import Filter
from dashboard.workspace import OpenRun, Params

TASKS_PER_PAGE = 200
ROLLOUTS_PER_PAGE = 200
SAMPLES_SHOWN = 500


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
    steps: list[int | None]
    """The training step of each sample."""
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
    return number(run, filter_, "count(DISTINCT task_id)")


def _placed(condition: str, key: str) -> str:
    """The tables `hit`, `t` and `placed`: every task of the grid, with its place in the order."""
    return f"""
        hit AS (SELECT DISTINCT task_id FROM rollouts WHERE {condition}),
        t AS (SELECT task_id, min("row") AS first, count(*) FILTER (verdict = 'passed') AS passed,
                     count(*) FILTER ({GRADED}) AS graded,
                     coalesce(sum(wall_s), 0) AS wall_s
              FROM rollouts SEMI JOIN hit USING (task_id) GROUP BY task_id),
        placed AS (SELECT *, row_number() OVER (ORDER BY {key}, first) AS place FROM t)"""  # noqa: S608


def grid_page(run: OpenRun, filter_: Filter, sort: str, task_id: str) -> int:
    """The page of the grid that has the task; 1 if none has."""
    condition, params = where(filter_)
    key = GRID_SORTS.get(sort, GRID_SORTS[""])[1]
    sql = f"WITH {_placed(condition, key)} SELECT place FROM placed WHERE task_id = $task"  # noqa: S608
    found = run.rows(sql, params | {"task": task_id})
    return (found[0][0] - 1) // TASKS_PER_PAGE + 1 if found else 1


@cached
def grid(run: OpenRun, filter_: Filter, sort: str, page: int) -> list[GridRow]:
    """One page of tasks x samples. All samples of a task are shown; `mask` says which the filter lets through."""
    condition, params = where(filter_)
    key = GRID_SORTS.get(sort, GRID_SORTS[""])[1]
    sql = f"""
        WITH {_placed(condition, key)},
             p AS (SELECT * FROM placed ORDER BY place LIMIT $limit OFFSET $offset),
             c AS (SELECT task_id, string_agg({LETTER}, '' ORDER BY {FILE_ORDER}) AS letters,
                          string_agg(CASE WHEN {condition} THEN '1' ELSE '0' END, '' ORDER BY {FILE_ORDER}) AS mask,
                          list(sample_id ORDER BY {FILE_ORDER}) AS ids,
                          list(coalesce(model, '') ORDER BY {FILE_ORDER}) AS models,
                          list(step ORDER BY {FILE_ORDER}) AS steps,
                          string_agg(CASE WHEN verified THEN '0' ELSE '1' END, '' ORDER BY {FILE_ORDER}) AS unverified
                   FROM rollouts SEMI JOIN p USING (task_id) GROUP BY task_id)
        SELECT task_id, passed, graded, letters, mask, ids, models, steps, unverified
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
    """A task's rollouts with the verdicts of their test cases; those that the filter lets through come first."""
    condition, params = where(filter_)
    sql = f"""
        WITH r AS (SELECT sample_id, verdict, model, verified, coalesce(({condition}), false) AS inside,
                          row_number() OVER (ORDER BY inside DESC, {FILE_ORDER}) AS place, count(*) OVER () AS total
                   FROM rollouts WHERE task_id = $task ORDER BY place LIMIT {SAMPLES_SHOWN}),
             c AS (SELECT sample_id, string_agg({LETTER}, '' ORDER BY test_index) AS letters
                   FROM stored_cases WHERE {IN_PARTS} AND task_id = $task GROUP BY sample_id)
        SELECT r.sample_id, r.verdict, r.inside, coalesce(c.letters, ''), coalesce(r.model, ''), r.verified,
               r.total
        FROM r LEFT JOIN c USING (sample_id) ORDER BY r.place"""  # noqa: S608
    return ranking(run.rows(sql, params | of_task(run, task_id)), CaseRow)


@cached
def table(run: OpenRun, filter_: Filter, sort: str, page: int, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """One page of rollouts: task, sample, then the values of `columns`, which are names from `COLUMNS`."""
    shown = ", ".join(f'{COLUMNS[name].shown} AS "{name}_shown"' for name in columns)
    by = order(sort).by()
    # Sorted are only the rows' numbers: the other columns of a million rows would not fit in memory.
    sql = f"""
        WITH p AS MATERIALIZED (SELECT "row" FROM inside ORDER BY {by} LIMIT $limit OFFSET $offset)
        SELECT task_id, sample_id, {shown} FROM rollouts SEMI JOIN p USING ("row") ORDER BY {by}"""  # noqa: S608
    return rows(run, filter_, sql, **window(page, ROLLOUTS_PER_PAGE))


class Group(NamedTuple):
    """The rollouts with one value of a column."""

    value: str | int | None
    rollouts: int
    pass_rate: float | None
    """Of the graded ones."""
    reward: float | None
    """The mean of the rollouts that have one."""
    verdicts: dict[str, int]
    """Rollouts by verdict."""


@cached
def groups(run: OpenRun, filter_: Filter, by: str, sort: str, page: int) -> Ranking[Group]:
    """One page of the groups by a column of `GROUPS`. An unknown order means most rollouts first."""
    if by not in GROUPS:
        raise ValueError(f"rollouts can't be grouped by {by}")
    name, down = direction(sort)
    key = f"{GROUP_SORTS[name]} {'DESC' if down else 'ASC'} NULLS LAST" if name in GROUP_SORTS else "rollouts DESC"
    sql = f"""
        WITH v AS (SELECT {by} AS value, verdict, count(*) AS n, sum(reward) AS total, count(reward) AS rewarded,
                          count(*) FILTER ({GRADED}) AS graded
                   FROM inside GROUP BY ALL)
        SELECT value, sum(n)::BIGINT AS rollouts,
               coalesce(sum(n) FILTER (verdict = 'passed'), 0) / nullif(sum(graded), 0) AS pass_rate,
               sum(total) / nullif(sum(rewarded), 0) AS reward,
               map_from_entries(list((verdict, n))) AS verdicts, count(*) OVER ()
        FROM v GROUP BY value ORDER BY {key}, value NULLS LAST LIMIT $limit OFFSET $offset"""  # noqa: S608
    return ranked(run, filter_, sql, Group, **window(page, ROLLOUTS_PER_PAGE))


class Hit(NamedTuple):
    """A rollout that a search found, and the line of its first match: what is before, in and after it."""

    task_id: str
    sample_id: str
    verdict: str
    model: str | None
    in_code: bool
    """Else it is in the completion alone, whose lines `line` then counts."""
    line: int
    before: str
    hit: str
    after: str


@cached
def hits(run: OpenRun, filter_: Filter, sort: str, page: int) -> list[Hit]:
    """One page of the rollouts that the filter's search has found so far."""
    by = order(sort).by()
    sql = f"""
        WITH p AS (SELECT *, row_number() OVER (ORDER BY {by}) AS place FROM inside
                   ORDER BY {by} LIMIT $limit OFFSET $offset),
             f AS (SELECT "row", in_code, line, before, hit, after FROM found WHERE find = $find)
        SELECT task_id, sample_id, verdict, model, in_code, line, before, hit, after
        FROM p JOIN f USING ("row") ORDER BY place"""  # noqa: S608
    return [Hit(*row) for row in rows(run, filter_, sql, find=filter_.find, **window(page, ROLLOUTS_PER_PAGE))]


@cached
def several(run: OpenRun) -> list[str]:
    """Those of `model` and `step` in which the rollouts differ."""
    sql = "SELECT count(DISTINCT model), count(DISTINCT step) FROM rollouts"
    return [name for name, count in zip(("model", "step"), run.rows(sql)[0], strict=True) if count > 1]


def window(page: int, size: int) -> Params:
    """The parameters of LIMIT and OFFSET for one page."""
    return {"limit": size, "offset": (page - 1) * size}
