"""Behaviours: the samples of a task that answered all of its test cases alike and failed in the same way."""

from __future__ import annotations

from typing import Final, NamedTuple

from dashboard.facts import counted
from dashboard.queries.answers import SAMPLES_LISTED, Answer
from dashboard.queries.expressions import IN_PARTS
from dashboard.queries.query import Ranking, cached, of_task
from dashboard.workspace import OpenRun

LISTED: Final = 50
_SHOWN: Final = 200


class Place(NamedTuple):
    """Where a sample's behaviour stands among its task's, the most frequent first."""

    number: int
    behaviours: int
    alike: int
    """Samples that behave so, itself included."""
    samples: int


@cached
def of_samples(run: OpenRun, task_id: str) -> Ranking[Answer]:
    """The behaviours of a task, the most frequent first, as answers: the text says how its samples end."""
    sql = f"""
        WITH b AS (SELECT behaviour, count(*) AS n, min("row") AS first,
                          list(sample_id ORDER BY "row")[:{SAMPLES_LISTED}] AS samples,
                          list(model ORDER BY "row")[:{SAMPLES_LISTED}] AS models
                   FROM rollouts WHERE task_id = $task GROUP BY behaviour),
             f AS (SELECT sample_id, test_index, left(coalesce(actual, difference), {_SHOWN}) AS answer
                   FROM stored_cases WHERE {IN_PARTS} AND task_id = $task)
        SELECT r.verdict, r.err, r.first_failing_test, f.answer, r.tests_total, n, samples, models
        FROM b JOIN rollouts r ON r."row" = b.first
        LEFT JOIN f ON f.sample_id = r.sample_id AND f.test_index = r.first_failing_test
        ORDER BY n DESC, b.first"""  # noqa: S608
    found = [_answer(*row) for row in run.rows(sql, of_task(run, task_id))]
    return Ranking(found[:LISTED], len(found))


def _answer(
    verdict: str, err: str | None, test: int | None, answer: str | None, tests: int | None, rollouts: int,
    samples: list[str], models: list[str | None],
) -> Answer:  # fmt: skip
    if test is None or verdict in ("no_code", "compile_error"):  # no test ran
        text = f"all {tests:,} tests" if verdict == "passed" and tests else err or verdict
    else:
        what = (err or verdict).removeprefix(f"{verdict}: ") if answer is None or verdict != "wrong_answer" else answer
        text = f"test {test}: {' '.join(what.split())}"
    return Answer(verdict, text, None, rollouts, samples, models)


def sentence(found: Ranking[Answer], most: int = 8) -> str:
    """`64 samples, 5 behaviours: 31, 18, 9, 4, 2`."""
    counts = [each.rollouts for each in found.rows]
    sizes = ", ".join(f"{count:,}" for count in counts[:most]) + (", …" if found.total > most else "")
    samples = counted(sum(counts), "sample") if found.total == len(counts) else "its samples"
    return f"{samples}, {counted(found.total, 'behaviour')}: {sizes}"


@cached
def of_sample(run: OpenRun, task_id: str, sample_id: str) -> Place | None:
    """None for a task with one sample."""
    sql = """
        WITH b AS (SELECT behaviour, count(*) AS n, min("row") AS first, bool_or(sample_id = $sample) AS own
                   FROM rollouts WHERE task_id = $task GROUP BY behaviour),
             o AS (SELECT *, row_number() OVER (ORDER BY n DESC, first) AS number, count(*) OVER () AS behaviours,
                          sum(n) OVER () AS samples FROM b)
        SELECT number, behaviours, n, samples::BIGINT FROM o WHERE own AND samples > 1"""
    rows = run.rows(sql, {"task": task_id, "sample": sample_id})
    return Place(*rows[0]) if rows else None
