"""The Rewards page's charts, each with what it is made from, and the same figures as tables."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import charts, estimates, export, facts, state, summary
from dashboard.controls import Screen
from dashboard.queries import distributions, outcomes
from dashboard.wording import counted

_HEIGHT = 262


def head(screen: Screen) -> None:
    """Means and the export."""
    totals = outcomes.totals(screen.run, screen.view.filter)
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        facts.line(
            [
                ("rollouts", f"{totals.rollouts:,}"),
                ("with a reward", f"{totals.rewarded:,}"),
                ("mean reward", facts.number(totals.mean_reward)),
                ("unknown", f"{totals.unknown:,}"),
                ("sandbox_error", f"{totals.sandbox_error:,}"),
                ("not verified", f"{totals.unverified:,}"),
            ],
            title="Rewards",
        )
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        export.offer(screen)


def histogram(screen: Screen, *, by: str) -> None:
    """Rollouts by reward, stacked by verdict or by model; a click shows the rollouts of a bar."""
    facts.section(f"Reward by {by}")
    values = distributions.reward_values(screen.run, screen.view.filter, by)
    if not values:
        facts.note("No rollout in the filter has a reward.")
        return
    width = distributions.reward_width(screen.run, screen.view.filter)
    figure = charts.reward_histogram(values, width, by=by, height=_HEIGHT)
    charts.show(figure, f"rewards_{by}", f"Rollouts by reward and {by}", summary.open_rewards)


def pass_rates(screen: Screen) -> None:
    """One bar a task; a click shows the task's rollouts by test case."""
    facts.section("Pass rate of each task")
    rates = distributions.task_rates(screen.run, screen.view.filter)
    if not rates:
        facts.note("No rollout in the filter was graded.")
        return

    def opened(data: list[float]) -> None:
        if data:
            state.go("rollouts", screen.view.place().but(task=rates[int(data[0])][0]))

    charts.show(charts.pass_rates(rates, height=_HEIGHT), "task_rates", "Pass rate of each task", opened)


def pass_at_k(screen: Screen) -> None:
    """The chance that the best of k rollouts passes, unbiased, with its 95% band."""
    facts.section("pass@k, unbiased")
    if screen.view.filter.by_outcome:
        facts.note(
            "The filter picks rollouts by outcome, so pass@k would mean nothing. Remove verdict, error and reward."
        )
        return
    curve = estimates.curve(screen.run, screen.view.filter)
    if not curve:
        facts.note("No rollout in the filter was graded.")
        return
    charts.show(charts.pass_at_k(curve, height=_HEIGHT), "pass_at_k", "pass@k against k with its 95% band")
    most = curve[-1].k
    left_out = estimates.fewer(screen.run, screen.view.filter, most)
    if left_out:
        few = f"{counted(left_out, 'task')} with fewer than {most} graded rollouts"
        facts.note(f"{few}: left out where k is beyond them.")


def tables(screen: Screen) -> None:
    """The charts' figures as text."""
    with st.expander("The same as tables"):
        left, right = st.columns(2)
        rates = distributions.task_rates(screen.run, screen.view.filter)
        table = pd.DataFrame(rates, columns=["task", "graded", "passed"])
        table["pass rate"] = table["passed"] / table["graded"]
        left.dataframe(table, hide_index=True, height=260, row_height=26)
        curve = estimates.curve(screen.run, screen.view.filter)
        rows = [(k, e.value, e.low, e.high, tasks) for k, tasks, e in curve]
        columns = ["k", "pass@k", "95% low", "95% high", "tasks"]
        right.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True, height=260, row_height=26)
