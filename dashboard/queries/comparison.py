"""Two sides of a comparison: their tasks, and the samples of one screen of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import streamlit as st

from dashboard import workspace
from dashboard.queries.expressions import FILE_ORDER, LETTER
from dashboard.queries.query import Ranking, cached, ranked, rows, where
from dashboard.state import Filter
from dashboard.workspace import Entry, OpenRun, Params, Stamp
from evaluator.runs import comparison
from evaluator.runs.comparison import OF_SIDE, Comparison
from evaluator.runs.expressions import MODEL, NO_MODEL
from evaluator.runs.reading import Run

SAMPLES_LISTED = 200


class Side(NamedTuple):
    """One side of a comparison: a run, one of its models and one of its steps; "" and None for all of them."""

    run: OpenRun
    model: str
    step: int | None = None

    @property
    def params(self) -> Params:
        """Those of `OF_SIDE`."""
        return {"side": self.model, "at_step": self.step}

    def restricted(self, filter_: Filter) -> Filter:
        """The filter with the side's model and step instead of its own."""
        bounds = {} if self.step is None else {"step_min": self.step, "step_max": self.step}
        model = "" if self.model == NO_MODEL else self.model
        return msgspec.structs.replace(filter_, model=model, **bounds)

    def free(self, filter_: Filter) -> Filter:
        """The filter without what the side decides."""
        bounds = {} if self.step is None else {"step_min": None, "step_max": None}
        return msgspec.structs.replace(filter_, model="", **bounds)


class Attempt(NamedTuple):
    """A sample of one side, without its long texts."""

    row: int
    sample_id: str
    verdict: str
    tests_passed: int
    tests_total: int
    error_type: str | None
    error_message: str | None
    alike: int
    """Samples of the side that behave like it, itself included."""


@st.cache_resource(show_spinner=False, max_entries=20, hash_funcs={OpenRun: lambda run: run.key, Filter: repr})
def compared(a: Side, b: Side, filter_: Filter) -> Comparison:
    """Both sides task by task. The filter holds for both, except its model."""
    grading = a.run.manifest.dataset_hash != b.run.manifest.dataset_hash
    # A grade that a rollout came with may be of any tests: the file does not say.
    unknown = a.run.recorded or b.run.recorded
    sides = []
    for each in (a, b):
        condition, params = where(each.free(filter_))
        hashes = {} if unknown or a.run.key == b.run.key else _hashes(each.run, grading=grading)
        cursor = each.run.connection.cursor()
        sides.append(comparison.side(cursor, hashes, each.model, condition, params, each.step))
    return comparison.compare(*sides)


@st.cache_resource(show_spinner=False, max_entries=20, hash_funcs={OpenRun: lambda run: run.key})
def _hashes(run: OpenRun, *, grading: bool) -> Mapping[str, int]:
    return comparison.task_hashes(run.connection.cursor(), grading=grading)


@cached
def letters(side: Side, filter_: Filter, tasks: list[str]) -> dict[str, str]:
    """The letters of a side's samples of each of these tasks, in file order."""
    sql = f"""SELECT task_id, string_agg({LETTER}, '' ORDER BY {FILE_ORDER}) FROM inside
              WHERE {OF_SIDE} AND list_contains($tasks, task_id) GROUP BY task_id"""  # noqa: S608
    return dict(rows(side.run, side.free(filter_), sql, tasks=tasks, **side.params))


@cached
def samples(side: Side, filter_: Filter, task: str) -> Ranking[Attempt]:
    """A side's samples of a task, in file order."""
    sql = f"""SELECT "row", sample_id, verdict, tests_passed, tests_total, error_type, error_message,
                     count(*) OVER (PARTITION BY behaviour), count(*) OVER ()
              FROM inside WHERE {OF_SIDE} AND task_id = $task
              ORDER BY {FILE_ORDER} LIMIT {SAMPLES_LISTED}"""  # noqa: S608
    return ranked(side.run, side.free(filter_), sql, Attempt, task=task, **side.params)


@cached
def program(run: OpenRun, row: int) -> str:
    """The code of a rollout; its completion, where no code was found in it."""
    [(part,)] = run.rows('SELECT part_file FROM rollouts WHERE "row" = $row', {"row": row})
    sql = 'SELECT coalesce(code, completion) FROM stored_rollouts WHERE part_file = $part AND "row" = $row'
    return str(run.rows(sql, {"part": part, "row": row})[0][0])


@cached
def steps(run: OpenRun, model: str) -> list[int]:
    """The steps of a model, or of all, in their order."""
    sql = f"SELECT DISTINCT step FROM rollouts WHERE step IS NOT NULL AND {OF_SIDE} ORDER BY step"  # noqa: S608
    return [step for (step,) in run.rows(sql, Side(run, model).params)]


@cached
def tasks_of(side: Side) -> list[str]:
    """The tasks with a rollout of a side."""
    sql = f"SELECT DISTINCT task_id FROM rollouts WHERE {OF_SIDE}"  # noqa: S608
    return [task for (task,) in side.run.rows(sql, side.params)]


def tasks_in(entry: Entry) -> list[str]:
    """The tasks with a rollout in a run or a file. A run is not opened for it: there may be many in the picker."""
    if not entry.graded:
        return tasks_of(Side(workspace.open_run(entry), ""))
    return _tasks_in(str(entry.path), workspace.stamp(entry.path))


@st.cache_data(show_spinner=False, max_entries=500)
def _tasks_in(path: str, stamp: Stamp) -> list[str]:
    del stamp
    with Run.open(path).connect() as connection:
        return [task for (task,) in connection.execute("SELECT DISTINCT task_id FROM rollouts").fetchall()]


@cached
def models_with_tasks_of(run: OpenRun, side: Side) -> list[str]:
    """The models of a run that have a task of a side, the one with the most rollouts first."""
    shared: Params = {"tasks": tasks_of(side)}
    sql = f"""SELECT {MODEL} AS name FROM rollouts SEMI JOIN (SELECT unnest($tasks) AS task_id) USING (task_id)
              GROUP BY name ORDER BY count(*) DESC, name"""  # noqa: S608
    return [name for (name,) in run.rows(sql, shared)]
