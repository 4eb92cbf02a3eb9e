"""All SQL of the dashboard. Values travel as parameters; only the fixed pieces below are put together.

Small results are cached by the run's key, so a rerun of the script costs no query that was already asked.
A query on a run of a million rollouts sorts and pages inside DuckDB: what leaves it fits on a screen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import duckdb
import msgspec
import numpy as np
import streamlit as st

from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.model import TestCase, Verdict

F = TypeVar("F", bound=Callable[..., Any])

TASKS_A_PAGE = 200
ROLLOUTS_A_PAGE = 200
SAMPLES_SHOWN = 500
_INFINITY = "'inf'::DOUBLE"

_LETTER = "CASE verdict " + " ".join(f"WHEN '{v.value}' THEN '{v.letter}'" for v in Verdict) + " ELSE '?' END"
_GRADED = "verdict NOT IN ('unknown', 'sandbox_error')"
_ORDER_IN_TASK = '"row"'  # file order, as everywhere

# Digits, quoted pieces and addresses differ from one failure to the next; the cluster is what is left.
_MESSAGE = r"""left(regexp_replace(regexp_replace(regexp_replace(split_part(error_message, chr(10), 1),
    '0x[0-9a-fA-F]+', '0x…', 'g'), '''[^'']*''|"[^"]*"', '''…''', 'g'), '-?\d+(\.\d+)?', 'N', 'g'), 100)"""
_CLUSTER = f"""CASE WHEN verdict = 'passed' THEN NULL
    WHEN verdict IN ('wrong_answer', 'time_limit', 'memory_limit', 'output_limit', 'not_run') THEN verdict
    WHEN error_type IS NULL AND coalesce(error_message, '') = '' THEN verdict
    ELSE coalesce(error_type, verdict) || CASE WHEN coalesce(error_message, '') = '' THEN ''
         ELSE ': ' || {_MESSAGE} END END"""

SORTS: dict[str, tuple[str, str]] = {
    "": ("file order", '"row"'),
    "worst": ("lowest reward first", f"coalesce(reward, {_INFINITY})"),
    "best": ("highest reward first", f"-coalesce(reward, -{_INFINITY})"),
    "tests": ("share of tests passed", f"coalesce(pass_rate, {_INFINITY})"),
    "slow": ("slowest first", "-coalesce(wall_s, 0)"),
    "memory": ("most memory first", "-coalesce(memory_mb, 0)"),
}
"""Orders of the rollouts, also that of previous and next: URL word -> what it is called, ascending key."""

GRID_SORTS: dict[str, tuple[str, str]] = {
    "": ("file order", "first"),
    "rate": ("lowest pass rate first", f"coalesce(passed / nullif(graded, 0), {_INFINITY})"),
    "rate_desc": ("highest pass rate first", "-coalesce(passed / nullif(graded, 0), -1)"),
    "spread": ("most mixed first", "abs(coalesce(passed / nullif(graded, 0), 9) - 0.5)"),
    "slow": ("slowest first", "-wall_s"),
    "task": ("task id", "task_id"),
}


class VerdictCount(NamedTuple):
    verdict: str
    rollouts: int


class Totals(NamedTuple):
    """Counts over the filtered rollouts; `mean_reward` leaves out those without a reward."""

    rollouts: int
    tasks: int
    passed: int
    unknown: int
    sandbox_error: int
    unverified: int
    duplicates: int
    mean_reward: float | None
    rewarded: int
    samples_min: int
    samples_max: int
    wall_s: float


class Signal(NamedTuple):
    """Groups with at least two rewards, and those whose rewards are all equal: no gradient comes from them."""

    groups: int
    flat: int
    """Groups whose rewards are all equal."""
    all_low: int
    """Those of them whose rewards are all 0 or less."""


class Cluster(NamedTuple):
    name: str
    verdict: str
    rollouts: int
    tasks: int


class GridRow(NamedTuple):
    task_id: str
    samples: int
    passed: int
    graded: int
    letters: str
    mask: str
    """'1' where the sample is inside the filter."""
    ids: list[str]
    """The samples, one a cell."""
    models: list[str]
    """The model of each sample; "" where none is named."""


class Place(NamedTuple):
    """Where a rollout stands in the filtered order; `inside` is false when the filter leaves it out."""

    inside: bool
    position: int
    total: int
    previous: tuple[str, str] | None
    following: tuple[str, str] | None


class TaskLine(NamedTuple):
    task_id: str
    mode: str
    tests: int
    samples: int
    passed: int
    nobody: int | None
    everybody: int | None


class CaseCount(NamedTuple):
    test_index: int
    passed: int
    ran: int
    seen: int


def cached(function: F) -> F:
    """Remember a small result by the run's key and the other arguments."""
    keyed = st.cache_data(
        show_spinner=False,
        max_entries=200,
        hash_funcs={OpenRun: lambda run: run.key, Filter: lambda filter_: repr(filter_)},
    )
    return keyed(function)  # type: ignore[return-value]


# --- The filter ---------------------------------------------------------------------------------


def clauses(filter_: Filter) -> list[tuple[str, str, dict[str, Any]]]:
    """The filter as (name of its field, SQL, parameters), one entry for each field that restricts."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    if filter_.verdicts:
        found.append(("verdicts", "list_contains($verdicts, verdict)", {"verdicts": sorted(filter_.words())}))
    if filter_.model:
        found.append(("model", "model = $model", {"model": filter_.model}))
    if filter_.err:
        found.append(("err", f"{_CLUSTER} = $err", {"err": filter_.err}))
    if filter_.q:
        text = "lower(concat_ws(chr(10), task_id, sample_id, model, error_type, error_message))"
        found.append(("q", f"contains({text}, lower($q))", {"q": filter_.q}))
    if filter_.r_min is not None:
        found.append(("r_min", "reward >= $r_min", {"r_min": filter_.r_min}))
    if filter_.r_max is not None:
        found.append(("r_max", "reward <= $r_max", {"r_max": filter_.r_max}))
    return found


def where(filter_: Filter) -> tuple[str, dict[str, Any]]:
    """A WHERE condition and its parameters."""
    parts = clauses(filter_)
    params: dict[str, Any] = {}
    for _, _, more in parts:
        params |= more
    return " AND ".join(f"({sql})" for _, sql, _ in parts) or "true", params


@cached
def count(run: OpenRun, filter_: Filter) -> int:
    """How many rollouts the filter lets through."""
    condition, params = where(filter_)
    return int(run.rows(f"SELECT count(*) FROM rollouts WHERE {condition}", params)[0][0])  # noqa: S608


@cached
def without_each(run: OpenRun, filter_: Filter) -> list[tuple[str, int]]:
    """For each field of the filter, how many rollouts there would be without it."""
    fields = [name for name, _, _ in clauses(filter_)]
    return [(name, count(run, msgspec.structs.replace(filter_, **{name: _empty(name)}))) for name in fields]


def _empty(name: str) -> Any:
    return getattr(Filter(), name)


@cached
def models(run: OpenRun) -> list[str]:
    """The models that sampled the rollouts, by name."""
    sql = "SELECT DISTINCT model FROM rollouts WHERE model IS NOT NULL ORDER BY model LIMIT 1000"
    return [row[0] for row in run.rows(sql)]


# --- Overview and rewards -----------------------------------------------------------------------


@cached
def verdict_counts(run: OpenRun, filter_: Filter) -> list[VerdictCount]:
    """Rollouts by verdict, in the order of the verdicts' display; verdicts that nothing has are left out."""
    condition, params = where(filter_)
    sql = f"SELECT verdict, count(*) FROM rollouts WHERE {condition} GROUP BY verdict"  # noqa: S608
    found = dict(run.rows(sql, params))
    return [VerdictCount(v.value, found[v.value]) for v in Verdict if v.value in found]


@cached
def totals(run: OpenRun, filter_: Filter) -> Totals:
    """The Overview's counts."""
    condition, params = where(filter_)
    sql = f"""
        WITH f AS (SELECT * EXCLUDE (code, completion) FROM rollouts WHERE {condition}),
             t AS (SELECT count(*) AS n FROM f GROUP BY task_id)
        SELECT count(*), count(DISTINCT task_id), count(*) FILTER (verdict = 'passed'),
               count(*) FILTER (verdict = 'unknown'), count(*) FILTER (verdict = 'sandbox_error'),
               count(*) FILTER (NOT verified), count(duplicate_of), avg(reward), count(reward),
               coalesce((SELECT min(n) FROM t), 0), coalesce((SELECT max(n) FROM t), 0),
               coalesce(sum(wall_s), 0)
        FROM f"""  # noqa: S608
    return Totals(*run.rows(sql, params)[0])


@cached
def signal(run: OpenRun, filter_: Filter) -> Signal:
    """How many groups of rollouts can teach nothing, because their rewards are all equal."""
    condition, params = where(filter_)
    sql = f"""
        WITH g AS (SELECT min(reward) AS lo, max(reward) AS hi FROM rollouts
                   WHERE {condition} GROUP BY coalesce("group", task_id) HAVING count(reward) >= 2)
        SELECT count(*), count(*) FILTER (lo = hi), count(*) FILTER (lo = hi AND hi <= 0) FROM g"""  # noqa: S608
    return Signal(*run.rows(sql, params)[0])


@cached
def clusters(run: OpenRun, filter_: Filter, limit: int = 50) -> list[Cluster]:
    """Failures that look alike, the largest first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT {_CLUSTER} AS name, mode(verdict), count(*), count(DISTINCT task_id)
        FROM rollouts WHERE {condition} AND verdict <> 'passed'
        GROUP BY name ORDER BY count(*) DESC, name LIMIT $limit"""  # noqa: S608
    return [Cluster(*row) for row in run.rows(sql, params | {"limit": limit})]


@cached
def reward_values(run: OpenRun, filter_: Filter, by: str) -> list[tuple[float, str, int]]:
    """(reward, verdict or model, rollouts). More than 24 different rewards are put into 20 bins by their middle."""
    column = {"verdict": "verdict", "model": "coalesce(model, 'no model named')"}[by]
    condition, params = where(filter_)
    sql = f"""
        WITH f AS (SELECT reward, {column} AS part FROM rollouts WHERE {condition} AND reward IS NOT NULL),
             s AS (SELECT min(reward) AS lo, max(reward) AS hi, count(DISTINCT reward) AS kinds FROM f)
        SELECT CASE WHEN kinds <= 24 THEN reward
                    ELSE lo + (least(floor((reward - lo) / (hi - lo) * 20), 19) + 0.5) * (hi - lo) / 20 END AS bin,
               part, count(*) FROM f, s GROUP BY bin, part ORDER BY bin, part"""  # noqa: S608
    return run.rows(sql, params)


@cached
def reward_width(run: OpenRun, filter_: Filter) -> float:
    """The width of a bin of `reward_values`; 0 where every reward has a bar of its own."""
    condition, params = where(filter_)
    sql = f"SELECT count(DISTINCT reward), max(reward) - min(reward) FROM rollouts WHERE {condition}"  # noqa: S608
    kinds, span = run.rows(sql, params)[0]
    return span / 20 if kinds > 24 else 0.0


@cached
def solved(run: OpenRun, filter_: Filter) -> tuple[np.ndarray, np.ndarray]:
    """Graded and passed rollouts of each task, by task id: all that pass@k needs. Both of shape (tasks,)."""
    condition, params = where(filter_)
    sql = f"""
        SELECT count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM rollouts
        WHERE {condition} AND {_GRADED} GROUP BY task_id ORDER BY task_id"""  # noqa: S608
    counted = run.connection.cursor().execute(sql, params).fetchnumpy()
    return np.asarray(counted["n"]), np.asarray(counted["c"])


@cached
def task_rates(run: OpenRun, filter_: Filter, limit: int = 2000) -> list[tuple[str, int, int]]:
    """(task, graded, passed), the lowest pass rate first."""
    condition, params = where(filter_)
    sql = f"""
        SELECT task_id, count(*) AS n, count(*) FILTER (verdict = 'passed') AS c FROM rollouts
        WHERE {condition} AND {_GRADED} GROUP BY task_id ORDER BY c / n, min("row") LIMIT $limit"""  # noqa: S608
    return run.rows(sql, params | {"limit": limit})


@cached
def first_failure(run: OpenRun, filter_: Filter) -> tuple[str, str, int | None] | None:
    """(task, sample, test) of the first rollout in the filter that failed by its own fault."""
    condition, params = where(filter_)
    failed = sorted(Filter(verdicts=("failed",)).words())
    sql = f"""
        SELECT task_id, sample_id, first_failing_test FROM rollouts
        WHERE {condition} AND list_contains($failed, verdict) ORDER BY "row" LIMIT 1"""  # noqa: S608
    found = run.rows(sql, params | {"failed": failed})
    return found[0] if found else None


@cached
def first(run: OpenRun, filter_: Filter, sort: str) -> tuple[str, str] | None:
    """(task, sample) of the first rollout in the filter's order."""
    condition, params = where(filter_)
    sql = f"""SELECT task_id, sample_id FROM rollouts WHERE {condition} ORDER BY {_sort(sort)}, "row" LIMIT 1"""  # noqa: S608
    found = run.rows(sql, params)
    return found[0] if found else None


# --- Rollouts -----------------------------------------------------------------------------------


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
             t AS (SELECT task_id, min("row") AS first, count(*) AS samples,
                          count(*) FILTER (verdict = 'passed') AS passed, count(*) FILTER ({_GRADED}) AS graded,
                          coalesce(sum(wall_s), 0) AS wall_s
                   FROM rollouts SEMI JOIN hit USING (task_id) GROUP BY task_id),
             p AS (SELECT *, row_number() OVER (ORDER BY {key}, first) AS place FROM t
                   ORDER BY place LIMIT $limit OFFSET $offset),
             c AS (SELECT task_id, string_agg({_LETTER}, '' ORDER BY {_ORDER_IN_TASK}) AS letters,
                          string_agg(CASE WHEN {condition} THEN '1' ELSE '0' END, '' ORDER BY {_ORDER_IN_TASK}) AS mask,
                          list(sample_id ORDER BY {_ORDER_IN_TASK}) AS ids,
                          list(coalesce(model, '') ORDER BY {_ORDER_IN_TASK}) AS models
                   FROM rollouts SEMI JOIN p USING (task_id) GROUP BY task_id)
        SELECT task_id, samples, passed, graded, letters, mask, ids, models
        FROM p JOIN c USING (task_id) ORDER BY place"""  # noqa: S608
    window = {"limit": TASKS_A_PAGE, "offset": (page - 1) * TASKS_A_PAGE}
    return [GridRow(*row) for row in run.rows(sql, params | window)]


@cached
def samples(run: OpenRun, task_id: str) -> list[tuple[str, str, str | None]]:
    """(sample, verdict, model) of a task's rollouts, in file order."""
    sql = f"""SELECT sample_id, verdict, model FROM rollouts WHERE task_id = $task
              ORDER BY {_ORDER_IN_TASK} LIMIT 5000"""  # noqa: S608
    return run.rows(sql, {"task": task_id})


@cached
def case_grid(run: OpenRun, filter_: Filter, task_id: str) -> list[tuple[str, str, bool, str, str]]:
    """(sample, verdict, inside the filter, letters of its test cases, model or "") of a task's rollouts."""
    condition, params = where(filter_)
    sql = f"""
        WITH r AS (SELECT sample_id, verdict, model, coalesce(({condition}), false) AS inside,
                          row_number() OVER (ORDER BY {_ORDER_IN_TASK}) AS place
                   FROM rollouts WHERE task_id = $task ORDER BY place LIMIT {SAMPLES_SHOWN}),
             c AS (SELECT sample_id, string_agg({_LETTER}, '' ORDER BY test_index) AS letters
                   FROM cases WHERE task_id = $task GROUP BY sample_id)
        SELECT r.sample_id, r.verdict, r.inside, coalesce(c.letters, ''), coalesce(r.model, '')
        FROM r LEFT JOIN c USING (sample_id) ORDER BY r.place"""  # noqa: S608
    return run.rows(sql, params | {"task": task_id})


TABLE_COLUMNS = (
    "task_id", "sample_id", "model", "verdict", "reward", "tests_passed", "tests_total", "error_type",
    "error_message", "error_line", "wall_s", "memory_mb",
)  # fmt: skip


def table(run: OpenRun, filter_: Filter, sort: str, page: int) -> Any:
    """One page of rollouts as an Arrow table with `TABLE_COLUMNS`; messages are cut at 200 characters."""
    condition, params = where(filter_)
    columns = ", ".join(
        "left(error_message, 200) AS error_message" if c == "error_message" else c for c in TABLE_COLUMNS
    )
    sql = f"""SELECT {columns} FROM rollouts WHERE {condition}
              ORDER BY {_sort(sort)}, "row" LIMIT $limit OFFSET $offset"""  # noqa: S608
    window = {"limit": ROLLOUTS_A_PAGE, "offset": (page - 1) * ROLLOUTS_A_PAGE}
    return run.connection.cursor().sql(sql, params=params | window).to_arrow_table()


def _sort(sort: str) -> str:
    return SORTS.get(sort, SORTS[""])[1]


# --- One rollout --------------------------------------------------------------------------------


@cached
def rollout(run: OpenRun, task_id: str, sample_id: str) -> dict[str, Any] | None:
    """All columns of one rollout, and `n_of_task`, `in_task`: its place among the task's samples."""
    sql = f"""
        WITH s AS (SELECT "row" AS at, row_number() OVER (ORDER BY {_ORDER_IN_TASK}) AS n_of_task,
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
def place(run: OpenRun, filter_: Filter, sort: str, row: int) -> Place:
    """Where the rollout with ordinal `row` stands in the filter's order, and its neighbours there."""
    condition, params = where(filter_)
    key = _sort(sort)
    sql = f"""
        WITH me AS (SELECT {{'k': {key}, 'r': "row"}} AS at FROM rollouts WHERE "row" = $row LIMIT 1),
             f AS (SELECT {{'k': {key}, 'r': "row"}} AS at, {{'t': task_id, 's': sample_id}} AS id
                   FROM rollouts WHERE {condition})
        SELECT coalesce(bool_or(f.at = me.at), false), count(*) FILTER (f.at <= me.at), count(*),
               arg_max(f.id, f.at) FILTER (f.at < me.at), arg_min(f.id, f.at) FILTER (f.at > me.at)
        FROM f, me"""  # noqa: S608
    inside, position, total, before, after = run.rows(sql, params | {"row": row})[0]
    return Place(inside, position, total, _pair(before), _pair(after))


def _pair(value: dict[str, str] | None) -> tuple[str, str] | None:
    return (value["t"], value["s"]) if value else None


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


# --- Tasks --------------------------------------------------------------------------------------


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
def task_total(run: OpenRun, q: str) -> int:
    """How many tasks of the dataset have `q` in their id."""
    sql = "SELECT count(*) FROM tasks WHERE contains(lower(task_id), lower($q))"
    return int(run.rows(sql, {"q": q})[0][0])


@cached
def task_lines(run: OpenRun, q: str, page: int) -> list[TaskLine]:
    """One page of the dataset's tasks with their counts, and how many test cases nobody or everybody passes."""
    sql = """
        WITH p AS (SELECT task_id, mode, tests_total FROM tasks WHERE contains(lower(task_id), lower($q))
                   ORDER BY task_id LIMIT $limit OFFSET $offset),
             r AS (SELECT task_id, count(*) AS samples, count(*) FILTER (verdict = 'passed') AS passed
                   FROM rollouts SEMI JOIN p USING (task_id) GROUP BY task_id),
             i AS (SELECT task_id, test_index, count(*) FILTER (verdict = 'passed') AS ok,
                          count(*) FILTER (verdict <> 'not_run') AS ran
                   FROM cases SEMI JOIN p USING (task_id) GROUP BY task_id, test_index),
             s AS (SELECT task_id, count(*) FILTER (ok = 0 AND ran > 1) AS nobody,
                          count(*) FILTER (ok = ran AND ran > 1) AS everybody FROM i GROUP BY task_id)
        SELECT p.task_id, mode, tests_total, coalesce(samples, 0), coalesce(passed, 0), nobody, everybody
        FROM p LEFT JOIN r USING (task_id) LEFT JOIN s USING (task_id) ORDER BY p.task_id"""
    window = {"limit": TASKS_A_PAGE, "offset": (page - 1) * TASKS_A_PAGE}
    return [TaskLine(*row) for row in run.rows(sql, {"q": q} | window)]


@cached
def case_counts(run: OpenRun, task_id: str) -> list[CaseCount]:
    """For each test case of a task, how many rollouts passed it, ran it, and have a result for it."""
    sql = """SELECT test_index, count(*) FILTER (verdict = 'passed'), count(*) FILTER (verdict <> 'not_run'), count(*)
             FROM cases WHERE task_id = $task GROUP BY test_index ORDER BY test_index"""
    return [CaseCount(*row) for row in run.rows(sql, {"task": task_id})]


# --- Export -------------------------------------------------------------------------------------


def condition_text(filter_: Filter) -> str:
    """The filter as one SQL condition without parameters, for `evaluator.export`; DuckDB itself quotes the values."""
    condition, params = where(filter_)
    return re.sub(r"\$(\w+)", lambda match: str(duckdb.ConstantExpression(params[match[1]])), condition)


def case_condition_text(filter_: Filter) -> str:
    """The same for rows of test cases: those of the rollouts that the filter lets through."""
    return f"(task_id, sample_id) IN (SELECT (task_id, sample_id) FROM rollouts WHERE {condition_text(filter_)})"  # noqa: S608


def _record(run: OpenRun, sql: str, params: dict[str, Any]) -> dict[str, Any] | None:
    cursor = run.connection.cursor().execute(sql, params)
    row = cursor.fetchone()
    if row is None:
        return None
    return dict(zip([column[0] for column in cursor.description], row, strict=True))
