"""The dataset's tasks and test cases: how many rollouts pass them, and whose tests to look at first, and why: from the
rollouts, and from reading the tests.

What needs a look at every test case is computed once per run and kept in tables of its connection, `task_list` and
`suspects`, so that DuckDB can sort and page by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import duckdb
import msgspec
import streamlit as st

from dashboard.queries import records
from dashboard.queries.expressions import GRADED, IN_PARTS, INFINITY, RAN, natural
from dashboard.queries.listing import TASKS_PER_PAGE, window
from dashboard.queries.query import cached, of_task, where
from dashboard.state import Filter
from dashboard.suspicions import Finding, findings
from dashboard.workspace import OpenRun, Params
from evaluator.model import Task, TestCase

_RATE = f"coalesce(passed / nullif(graded, 0), {INFINITY}), id_key, task_id"
SORTS: dict[str, tuple[str, str]] = {
    "": ("suspects first", f"coalesce(-weight, 0), {_RATE}"),
    "task": ("task id", "id_key, task_id"),
    "file": ("file order", "place"),
    "rate": ("lowest pass rate first", _RATE),
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
    prepare(run)
    condition, params = _listed(filter_)
    total = int(run.rows(f"SELECT count(*) FROM task_list WHERE {condition}", params)[0][0])  # noqa: S608
    sample = random_sample(sort)
    return min(total, sample.size) if sample else total


def task_lines(run: OpenRun, filter_: Filter, sort: str, page: int) -> list[TaskLine]:
    """One page of these tasks."""
    prepare(run)
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
    return [CaseCount(*row) for row in run.rows(sql, of_task(run, task_id))]


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


# --- Suspects -------------------------------------------------------------------------------------

RAN_LEAST = 3
"""Rollouts that must have run a test case before it counts as one that nobody passes; two, if they agree."""
NOBODY = "nobody"
_ALIKE_LEAST = 3
"""Rollouts that fail one test case alone, all with one answer, and that are more than those that pass the task."""
REFERENCE = "reference"

_TASKS_AT_ONCE = 50
_READ_MOST = 4_000_000
"""Characters of a task; larger ones are not read."""

# A task of which nobody passes anything is more likely hard than wrong. Where most samples give the same other answer,
# the expected one is in doubt.
_TABLES = f"""
CREATE OR REPLACE TABLE task_list AS
    SELECT task_id, any_value(id_key) AS id_key, any_value(place) AS place,
           any_value(tests) AS tests, any_value(referenced) AS referenced, count(*) FILTER ({GRADED}) AS graded,
           count(*) FILTER (r.verdict = 'passed') AS passed
    FROM (SELECT task_id, {natural("task_id")} AS id_key, row_number() OVER () AS place, tests_total AS tests,
                 coalesce(reference, '') <> '' AS referenced
          FROM tasks) t
    LEFT JOIN (SELECT task_id, verdict, disagreement FROM rollouts) r USING (task_id)
    GROUP BY task_id ORDER BY id_key, task_id;
CREATE OR REPLACE TABLE case_list AS
    SELECT task_id, test_index, count(*) FILTER (verdict = 'passed') AS passed,
           count(*) FILTER ({RAN}) AS ran
    FROM stored_cases GROUP BY task_id, test_index;
CREATE OR REPLACE TABLE suspects AS
    WITH n AS (SELECT task_id, test_index, ran FROM case_list WHERE passed = 0 AND ran >= 2),
         w AS (SELECT task_id, test_index, count(*) AS same
               FROM stored_cases SEMI JOIN n USING (task_id, test_index)
               WHERE verdict = 'wrong_answer' AND actual IS NOT NULL GROUP BY task_id, test_index, hash(actual)),
         a AS (SELECT task_id, test_index, max(same) AS same FROM w GROUP BY ALL),
         p AS (SELECT DISTINCT task_id FROM case_list WHERE passed > 0)
    SELECT n.task_id, n.test_index, '{NOBODY}' AS kind,
           'nobody passes' || CASE WHEN coalesce(same, 0) * 2 > ran
               THEN format(', {{:,}} of {{:,}} agree on another answer', same, ran)
               ELSE format(' (0 of {{:,}} that ran it)', ran) END AS why,
           (CASE WHEN p.task_id IS NULL THEN 2 ELSE 4 END + coalesce(same, 0) / ran)::DOUBLE AS weight
    FROM n LEFT JOIN a USING (task_id, test_index) LEFT JOIN p ON p.task_id = n.task_id
    WHERE ran >= {RAN_LEAST} OR same = ran;
INSERT INTO suspects
    WITH lone AS (SELECT task_id, sample_id, first_failing_test AS test_index FROM rollouts
                  WHERE verdict = 'wrong_answer' AND tests_total > 1 AND tests_passed = tests_total - 1),
         often AS (SELECT task_id, test_index FROM lone JOIN task_list USING (task_id) GROUP BY ALL
                   HAVING count(*) >= greatest({_ALIKE_LEAST}, any_value(passed) + 1)),
         w AS (SELECT task_id, test_index, count(*) AS same
               FROM stored_cases JOIN lone USING (task_id, sample_id, test_index)
                                 SEMI JOIN often USING (task_id, test_index)
               WHERE actual IS NOT NULL GROUP BY task_id, test_index, hash(actual)),
         a AS (SELECT task_id, test_index, max(same) AS same FROM w GROUP BY ALL)
    SELECT task_id, test_index, 'alike',
           format('{{:,}} samples fail nothing else, with one answer; {{:,}} pass', same, passed), 4 + same / graded
    FROM a JOIN task_list USING (task_id) ANTI JOIN suspects USING (task_id, test_index)
    WHERE same >= greatest({_ALIKE_LEAST}, passed + 1);
"""  # noqa: S608


class Suspect(NamedTuple):
    """A reason to look at a task, or at one of its test cases. The higher its weight, the sooner."""

    test_index: int | None
    kind: str
    why: str
    weight: float


def prepare(run: OpenRun) -> None:
    """Make the tables, if this run does not have them yet. Call it before the queries of this subject."""
    _prepared(run)


@st.cache_resource(show_spinner=False, max_entries=16, hash_funcs={OpenRun: lambda run: id(run.connection)})
def _prepared(run: OpenRun) -> duckdb.DuckDBPyConnection:
    """Returns the connection that has the tables now: while the cache keeps it, no other has its id."""
    cursor = run.connection.cursor()
    cursor.execute(_TABLES)
    if run.recorded and not run.manifest.dataset:  # its tasks are only names
        return run.connection
    sql = f"""SELECT task_id, length(task), CASE WHEN length(task) <= {_READ_MOST} THEN task END,
                     CASE WHEN length(task) <= {_READ_MOST} THEN cases END FROM tasks"""  # noqa: S608
    tasks = run.connection.cursor().execute(sql)
    while rows := tasks.fetchmany(_TASKS_AT_ONCE):
        _add(run, [(task_id, each) for task_id, *stored in rows for each in _read(run, *stored)])
    return run.connection


def _read(run: OpenRun, size: int | None, text: str | None, cases: str | None) -> list[Finding]:
    if size and size > _READ_MOST:
        return [Finding("large", f"{size / 1_000_000:,.0f} MB of tests: not searched for oddities", 0.5)]
    task = records.decoded(text, Task)
    if task is None:
        return []
    return list(findings(task, records.decoded(cases, list[TestCase]) or [], run.manifest.options.checker))


def _add(run: OpenRun, found: Iterable[tuple[str, Finding]]) -> None:
    rows = [(task_id, each.test, each.kind, each.why, each.weight) for task_id, each in found]
    if rows:
        names = ("task", "test", "kind", "why", "weight")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        lists = ", ".join(f"unnest(${name})" for name in names)
        run.connection.cursor().execute(f"INSERT INTO suspects SELECT {lists}", columns)


def note_reference(run: OpenRun, task_id: str, found: Finding | None) -> None:
    """Put the finding about a task's reference, after it ran, in place of an earlier one."""
    sql = f"DELETE FROM suspects WHERE task_id = $task AND kind = '{REFERENCE}'"  # noqa: S608
    run.connection.cursor().execute(sql, {"task": task_id})
    if found is not None:
        _add(run, [(task_id, found)])


def suspects_of(run: OpenRun, task_id: str) -> list[Suspect]:
    """What is suspect about a task, the most suspect first."""
    sql = """SELECT test_index, kind, why, weight FROM suspects WHERE task_id = $task
             ORDER BY weight DESC, test_index, why"""
    return [Suspect(*row) for row in run.rows(sql, {"task": task_id})]


def every(run: OpenRun) -> list[Task]:
    """All tasks, in their file's order."""
    return _decoded(run.rows("SELECT task FROM tasks"))


def with_references(run: OpenRun) -> list[Task]:
    """The tasks that came with a reference."""
    return _decoded(run.rows("SELECT task FROM tasks WHERE coalesce(reference, '') <> ''"))


def _decoded(texts: list[tuple[str]]) -> list[Task]:
    return [task for (text,) in texts if (task := records.decoded(text, Task)) is not None]


def reference_count(run: OpenRun) -> int:
    """How many tasks came with a reference."""
    return int(run.rows("SELECT count(*) FROM task_list WHERE referenced")[0][0])
