"""The Rewards page: its charts, and the same figures as tables."""

from __future__ import annotations

import itertools

import pandas as pd
import streamlit as st

from dashboard import charts, escape, estimates, facts, overview, state
from dashboard.charts import Step
from dashboard.controls import Screen
from dashboard.queries import aggregates, distributions
from dashboard.queries.listing import TASKS_PER_PAGE
from dashboard.state import View
from dashboard.wording import counted

_HEIGHT = 262
_TASKS_IN_TABLE = 1_000


def head(screen: Screen) -> None:
    """Counts and mean reward."""
    totals = aggregates.totals(screen.run, screen.view.filter)
    facts.line(
        [
            ("rollouts", f"{totals.rollouts:,}"),
            ("with a reward", f"{totals.rewarded:,}"),
            ("mean reward" + overview.pooled(screen, " of {} together"), facts.number(totals.mean_reward)),
            ("unknown", f"{totals.unknown:,}"),
            ("sandbox_error", f"{totals.sandbox_error:,}"),
            ("not verified", f"{totals.unverified:,}"),
        ],
        title="Rewards",
    )


def histogram(screen: Screen, *, by: str) -> None:
    """Rollouts by reward, stacked by verdict or by model; a click on a bar shows its rollouts."""
    facts.section(f"Reward by {by}")
    values = distributions.reward_values(screen.run, screen.view.filter, by)
    if not values:
        facts.note("No rollout in the filter has a reward.")
        return
    width = distributions.reward_width(screen.run, screen.view.filter)
    figure = charts.reward_histogram(values, width, by=by, height=_HEIGHT)
    charts.show(figure, f"rewards_{by}", f"Rollouts by reward and {by}", overview.open_rewards)


def pass_rates(screen: Screen) -> None:
    """Tasks by pass rate; a click shows the task by test case, or the list of tasks from there on."""
    run, filter_ = screen.run, screen.view.filter
    facts.section("Pass rate of each task" + overview.pooled(screen, ", {} together"))
    found = distributions.task_rates(run, filter_)
    if not found.total:
        facts.note("No rollout in the filter was graded.")
        return
    if len(found.rows) == found.total:
        steps = [Step(task.passed / task.graded, 1, task.task_id) for task in found.rows]
        targets = [View(task=task.task_id) for task in found.rows]
    else:
        counts = distributions.rate_counts(run, filter_)
        steps = [Step(rate, tasks, counted(tasks, "task")) for rate, tasks in counts]
        before = itertools.accumulate((tasks for _, tasks in counts[:-1]), initial=0)
        targets = [View(sort="rate", page=1 + first // TASKS_PER_PAGE) for first in before]

    def opened(data: list[float]) -> None:
        if data:
            target = targets[int(data[0])]
            state.go("rollouts", target.but(run=screen.view.run, filter=filter_))

    charts.show(charts.pass_rates(steps, height=_HEIGHT), "task_rates", "Pass rate of each task", opened)


def pass_at_k(screen: Screen) -> None:
    """The unbiased chance that the best of k rollouts passes, with its 95% band, per model."""
    facts.section("pass@k, unbiased")
    if screen.view.filter.by_outcome:
        facts.note(
            "The filter selects rollouts by outcome, so pass@k would mean nothing. Remove verdict, error and reward."
        )
        return
    found = estimates.curves(screen.run, screen.view.filter)
    if not found.rows:
        facts.note("No rollout in the filter was graded.")
        return
    charts.show(charts.pass_at_k(found.rows, height=_HEIGHT), "pass_at_k", "pass@k against k with its 95% band")
    if part := found.part("model"):
        facts.note(f"The {part}, by rollouts. Select a model in the filter to see its curve.")
    if len(found.rows) == 1 and (curve := found.rows[0]).fewer:
        few = f"{counted(curve.fewer, 'task')} with fewer than {curve.points[-1].k} graded rollouts"
        facts.note(f"{few}: left out for larger k.")
    elif any(curve.fewer for curve in found.rows):
        facts.note("For each k, tasks with fewer graded rollouts of the model are left out.")


def tables(screen: Screen) -> None:
    """The charts' figures as tables."""
    with st.expander("The same figures as tables"):
        left, right = st.columns(2)
        rates = distributions.task_rates(screen.run, screen.view.filter, _TASKS_IN_TABLE)
        table = pd.DataFrame(
            [(escape.text(task.task_id), task.graded, task.passed) for task in rates.rows],
            columns=["task", "graded", "passed"],
        )
        table["pass rate"] = table["passed"] / table["graded"]
        left.dataframe(table, hide_index=True, height=260, row_height=26)
        if part := rates.part("task"):
            with left:
                facts.note(f"The {part}, lowest pass rate first.")
        curves = [] if screen.view.filter.by_outcome else estimates.curves(screen.run, screen.view.filter).rows
        rows = [(escape.text(c.model), k, e.value, e.low, e.high, tasks) for c in curves for k, tasks, e in c.points]
        columns = ["model", "k", "pass@k", "95% low", "95% high", "tasks"]
        right.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True, height=260, row_height=26)
