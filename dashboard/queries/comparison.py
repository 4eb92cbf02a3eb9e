"""Two sides of a comparison: their tasks, and the samples of one screen of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import streamlit as st

from dashboard.queries.expressions import FILE_ORDER, LETTER
from dashboard.queries.query import Ranking, cached, ranked, rows, where
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.runs import comparison
from evaluator.runs.comparison import Comparison
from evaluator.runs.expressions import MODEL, NO_MODEL

SAMPLES_LISTED = 200
_OF_SIDE = f"($side = '' OR {MODEL} = $side)"


class Side(NamedTuple):
    """One side of a comparison: a run, and one of its models; "" for all of them."""

    run: OpenRun
    model: str


class Attempt(NamedTuple):
    """A sample of one side, without its long texts."""

    row: int
    sample_id: str
    verdict: str
    tests_passed: int
    tests_total: int
    error_type: str | None
    error_message: str | None


@st.cache_resource(show_spinner=False, max_entries=20, hash_funcs={OpenRun: lambda run: run.key, Filter: repr})
def compared(a: Side, b: Side, filter_: Filter) -> Comparison:
    """Both sides task by task. The filter holds for both, except its model."""
    grading = a.run.manifest.dataset_hash != b.run.manifest.dataset_hash
    # A grade that a rollout came with may be of any tests: the file does not say.
    unknown = a.run.recorded or b.run.recorded
    sides = []
    for each in (a, b):
        condition, params = where(restricted(filter_, ""))
        hashes = {} if unknown or a.run.key == b.run.key else _hashes(each.run, grading=grading)
        cursor = each.run.connection.cursor()
        sides.append(comparison.side(cursor, hashes, each.model, condition, params))
    return comparison.compare(*sides)


@st.cache_resource(show_spinner=False, max_entries=20, hash_funcs={OpenRun: lambda run: run.key})
def _hashes(run: OpenRun, *, grading: bool) -> Mapping[str, int]:
    return comparison.task_hashes(run.connection.cursor(), grading=grading)


@cached
def letters(side: Side, filter_: Filter, tasks: list[str]) -> dict[str, str]:
    """The letters of a side's samples of each of these tasks, in file order."""
    sql = f"""SELECT task_id, string_agg({LETTER}, '' ORDER BY {FILE_ORDER}) FROM inside
              WHERE {_OF_SIDE} AND list_contains($tasks, task_id) GROUP BY task_id"""  # noqa: S608
    return dict(rows(side.run, restricted(filter_, ""), sql, side=side.model, tasks=tasks))


@cached
def samples(side: Side, filter_: Filter, task: str) -> Ranking[Attempt]:
    """A side's samples of a task, in file order."""
    sql = f"""SELECT "row", sample_id, verdict, tests_passed, tests_total, error_type, error_message, count(*) OVER ()
              FROM inside WHERE {_OF_SIDE} AND task_id = $task
              ORDER BY {FILE_ORDER} LIMIT {SAMPLES_LISTED}"""  # noqa: S608
    return ranked(side.run, restricted(filter_, ""), sql, Attempt, side=side.model, task=task)


@cached
def program(run: OpenRun, row: int) -> str:
    """The code of a rollout; its completion, where no code was found in it."""
    [(part,)] = run.rows('SELECT part_file FROM rollouts WHERE "row" = $row', {"row": row})
    sql = 'SELECT coalesce(code, completion) FROM stored_rollouts WHERE part_file = $part AND "row" = $row'
    return str(run.rows(sql, {"part": part, "row": row})[0][0])


def restricted(filter_: Filter, model: str) -> Filter:
    """The filter with a side's model instead of its own."""
    return msgspec.structs.replace(filter_, model="" if model == NO_MODEL else model)
