"""The other samples of a task: which passed, with their code, and what each answered to one test case."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.queries import parts
from dashboard.queries.cache import cached
from dashboard.queries.parts import IN_PARTS
from dashboard.queries.ranking import Ranking, ranking
from dashboard.workspace import OpenRun

MOST_CANDIDATES = 200
LONGEST_CODE = 20_000
"""Longer code is not compared."""
ANSWERS_SHOWN = 50
SAMPLES_SHOWN = 200
"""Of one answer."""
_ANSWER = 300


class Candidate(NamedTuple):
    """A sample that passed."""

    sample_id: str
    model: str | None
    code: str


class Answer(NamedTuple):
    """An answer to a test case, or the way in which it ended, and the samples that gave it."""

    answer: str
    verdict: str
    times: int
    samples: list[str]


@cached
def passing(run: OpenRun, task_id: str, sample_id: str) -> list[Candidate]:
    """The task's other samples that passed, in file order."""
    sql = f"""SELECT sample_id, model, code FROM stored_rollouts
              WHERE {IN_PARTS} AND task_id = $task AND sample_id <> $sample AND verdict = 'passed'
                    AND length(code) <= {LONGEST_CODE}
              ORDER BY "row" LIMIT {MOST_CANDIDATES}"""  # noqa: S608
    found = parts.of_task(run, task_id) | {"sample": sample_id}
    return [Candidate(*row) for row in run.rows(sql, found)]


@cached
def answers(run: OpenRun, task_id: str, test_index: int) -> Ranking[Answer]:
    """What the task's samples answered to a test case, the most frequent answer first."""
    sql = f"""
        WITH c AS (SELECT sample_id, verdict,
                          CASE WHEN verdict IN ('passed', 'wrong_answer') THEN coalesce(actual, difference, verdict)
                               ELSE coalesce(error_type, verdict) END AS answer
                   FROM stored_cases WHERE {IN_PARTS} AND task_id = $task AND test_index = $test),
             r AS (SELECT sample_id, "row" AS place FROM rollouts WHERE task_id = $task)
        SELECT left(answer, {_ANSWER}), verdict, count(*), list(sample_id ORDER BY place)[:{SAMPLES_SHOWN}],
               count(*) OVER ()
        FROM c JOIN r USING (sample_id) GROUP BY answer, verdict ORDER BY count(*) DESC, min(place)
        LIMIT {ANSWERS_SHOWN}"""  # noqa: S608
    found = parts.of_task(run, task_id) | {"test": test_index}
    return ranking(run.rows(sql, found), Answer)
