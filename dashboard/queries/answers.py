"""What the samples of one task answered to its test cases, and their code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dashboard.queries.expressions import IN_PARTS
from dashboard.queries.query import Ranking, cached, of_task, ranking
from dashboard.workspace import OpenRun

SHOWN = 500
"""Characters of an answer."""
ERROR = "error"
"""For every verdict without an answer."""
SAMPLES_LISTED = 200
"""Samples listed with one answer."""
MOST_CANDIDATES = 200
LONGEST_CODE = 20_000
"""Longer code is not compared."""
_ANSWER = "CASE WHEN verdict IN ('passed', 'wrong_answer') THEN coalesce(actual, difference) END"
"""What it gave, else how that differs."""


class Answer(NamedTuple):
    """One answer to a test case, and who gave it. Completions that gave none count by how they ended."""

    verdict: str
    text: str | None
    """The start of it; None where there is none to compare."""
    error: str | None
    """The exception's type, if one was raised."""
    rollouts: int
    samples: list[str]
    """The first of them, in file order."""
    models: list[str | None]
    is_own: bool = False
    """Whether `sample_id` gave it, which may be none of those listed."""


class Short(NamedTuple):
    """An answer in the table of test cases."""

    test_index: int
    verdict: str
    """`passed`, `wrong_answer` or `ERROR`."""
    text: str | None
    rollouts: int


@cached
def by_test(run: OpenRun, task_id: str, most: int = 3) -> dict[int, list[Short]]:
    """For each test case, its most frequent answers, and then how many ended without one, as `ERROR`."""
    sql = f"""
        WITH c AS (SELECT test_index, {_ANSWER} AS answer,
                          CASE WHEN verdict IN ('passed', 'wrong_answer') THEN verdict ELSE '{ERROR}' END AS verdict
                   FROM stored_cases WHERE {IN_PARTS} AND task_id = $task AND verdict <> 'not_run'),
             g AS (SELECT test_index, verdict, answer, count(*) AS n FROM c GROUP BY ALL)
        SELECT test_index, verdict, left(answer, {SHOWN}), n FROM g
        QUALIFY row_number() OVER (PARTITION BY test_index, verdict = '{ERROR}'
                                   ORDER BY n DESC, verdict, answer) <= $most
        ORDER BY test_index, verdict = '{ERROR}', n DESC, verdict, answer"""  # noqa: S608
    found: dict[int, list[Short]] = {}
    for row in run.rows(sql, of_task(run, task_id) | {"most": most}):
        found.setdefault(row[0], []).append(Short(*row))
    return found


@cached
def of_test(run: OpenRun, task_id: str, test_index: int, sample_id: str = "", limit: int = 50) -> Ranking[Answer]:
    """The answers to one test case, the most frequent first. That of `sample_id` is marked as its own."""
    sql = f"""
        WITH c AS (SELECT sample_id, verdict, error_type, {_ANSWER} AS answer
                   FROM stored_cases WHERE {IN_PARTS} AND task_id = $task AND test_index = $test),
             r AS (SELECT sample_id, model, "row" FROM rollouts WHERE task_id = $task)
        SELECT verdict, left(answer, {SHOWN}), error_type, count(*), list(sample_id ORDER BY "row")[:{SAMPLES_LISTED}],
               list(model ORDER BY "row")[:{SAMPLES_LISTED}], coalesce(bool_or(sample_id = $own), false),
               count(*) OVER ()
        FROM c JOIN r USING (sample_id) GROUP BY verdict, answer, error_type
        ORDER BY verdict = 'not_run', count(*) DESC, min("row") LIMIT $limit"""  # noqa: S608
    found = of_task(run, task_id) | {"test": test_index, "own": sample_id, "limit": limit}
    return ranking(run.rows(sql, found), Answer)


class Code(NamedTuple):
    """A sample's code, and its verdict in the run."""

    sample_id: str
    code: str
    verdict: str
    model: str | None


@cached
def codes(run: OpenRun, task_id: str, limit: int) -> Ranking[Code]:
    """The first samples of a task that have code, in file order."""
    return _codes(run, task_id, "coalesce(code, '') <> ''", limit)


@cached
def verdicts_of_test(run: OpenRun, task_id: str, test_index: int) -> dict[str, str]:
    """By sample the verdict of one test case in the run."""
    sql = f"SELECT sample_id, verdict FROM stored_cases WHERE {IN_PARTS} AND task_id = $task AND test_index = $test"  # noqa: S608
    return dict(run.rows(sql, of_task(run, task_id) | {"test": test_index}))


@cached
def passing(run: OpenRun, task_id: str, sample_id: str) -> Sequence[Code]:
    """The task's other samples that passed, in file order."""
    passed = f"verdict = 'passed' AND length(code) <= {LONGEST_CODE} AND sample_id <> $sample"
    return _codes(run, task_id, passed, MOST_CANDIDATES, sample=sample_id).rows


def all_passing(run: OpenRun) -> dict[str, list[Code]]:
    """By task its first samples that passed."""
    sql = f"""
        SELECT task_id, sample_id, code, verdict, model FROM stored_rollouts
        WHERE verdict = 'passed' AND length(code) <= {LONGEST_CODE}
        QUALIFY row_number() OVER (PARTITION BY task_id ORDER BY "row") <= {MOST_CANDIDATES}"""  # noqa: S608
    found: dict[str, list[Code]] = {}
    for task_id, *values in run.rows(sql):
        found.setdefault(task_id, []).append(Code(*values))
    return found


def _codes(run: OpenRun, task_id: str, condition: str, limit: int, **more: Any) -> Ranking[Code]:
    sql = f"""SELECT sample_id, code, verdict, model, count(*) OVER () FROM stored_rollouts
              WHERE {IN_PARTS} AND task_id = $task AND {condition} ORDER BY "row" LIMIT {limit}"""  # noqa: S608
    return ranking(run.rows(sql, of_task(run, task_id) | more), Code)
