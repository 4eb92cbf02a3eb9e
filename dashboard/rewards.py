"""The Rewards page: figures in two columns, each with the views behind its marks, and its numbers as a table."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import charts, controls, escape, estimates, facts, meanings, widgets
from dashboard.charts import Step, Target
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import aggregates, distributions
from dashboard.queries.aggregates import NO_MODEL
from dashboard.queries.distributions import ALL, Means, Spread
from dashboard.queries.listing import TASKS_PER_PAGE
from dashboard.state import NO_SIGNAL, View
from evaluator.model import Verdict

HEIGHT = 250
_ROWS = 1_000


class Drawn(NamedTuple):
    """A figure of the page. `targets` are what its marks open."""

    key: str
    title: str
    figure: go.Figure
    alt: str
    targets: Sequence[Target]
    table: pd.DataFrame
    notes: Sequence[str] = ()


def by_model(screen: Screen) -> Drawn | str:
    """The mean reward of each model, with its interval."""
    run, filter_ = screen.run, screen.view.filter
    found = aggregates.models(run, filter_)
    means = [(each.model, estimates.mean_reward(run, filter_, each.model)) for each in found.rows]
    means = [(model, mean) for model, mean in means if mean.n]
    if not means:
        return "No rollout in the filter has a reward."
    figure = charts.by_model(means, height=HEIGHT)
    targets = [("rollouts", _of_model(screen, model)) for model, _ in means]
    rows = [(escape.text(model), mean.n, mean.value, mean.low, mean.high) for model, mean in means]
    table = _table(rows, ["model", "tasks", "mean reward", "95% low", "95% high"])
    title, alt = "Reward by model", "Mean reward of each model with its 95% interval"
    return Drawn("rewards_model", title, figure, alt, targets, table, _part(found.part("model")))


def by_verdict(screen: Screen) -> Drawn | str:
    """Rollouts by reward, stacked by verdict."""
    run, filter_ = screen.run, screen.view.filter
    values = distributions.reward_values(run, filter_)
    if not values:
        return "No rollout in the filter has a reward."
    width = distributions.reward_width(run, filter_)
    figure = charts.by_verdict(values, width, height=HEIGHT)
    rewards = sorted({reward for reward, _, _ in values})
    targets = [_rollouts(screen.view.place(), reward, width) for reward in rewards]
    rows = [(reward, verdict, count) for reward, verdict, count in values]
    table = _table(rows, ["reward", "verdict", "rollouts"])
    return Drawn("rewards_verdict", "Reward by verdict", figure, "Rollouts by reward and verdict", targets, table)


def by_step(screen: Screen) -> Drawn | str:
    """Mean reward and pass rate by training step."""
    found = distributions.by_step(screen.run, screen.view.filter)
    if not any(each.reward is not None or each.rate is not None for each in found):
        return "No rollout in the filter has a step and a reward, so there is no reward by step."
    figure = charts.by_step(found, rates=not screen.view.filter.by_outcome, height=HEIGHT)
    targets = [("rollouts", _of_model(screen, each.part).but(step_min=each.low, step_max=each.high)) for each in found]
    alt = "Mean reward by step with its 95% band"
    return Drawn("rewards_step", "Reward by step", figure, alt, targets, _means(found, "step"))


def endings(screen: Screen) -> Drawn | str:
    """How rollouts ended, by training step; a click on a part shows its rollouts."""
    found = distributions.endings(screen.run, screen.view.filter)
    if not found:
        return ""
    place = screen.view.place()
    targets = [
        ("rollouts", place.but(step_min=each.low, step_max=each.high, verdicts=(each.verdict,))) for each in found
    ]
    figure = charts.endings(found, height=HEIGHT)
    table = _table([tuple(each) for each in found], ["step from", "to", "verdict", "rollouts"])
    return Drawn("endings", "Verdicts by step", figure, "Rollouts by step and verdict", targets, table)


def by_length(screen: Screen) -> Drawn | str:
    """Mean reward and pass rate by the completion's length."""
    found = distributions.by_length(screen.run, screen.view.filter)
    if not any(each.reward is not None or each.rate is not None for each in found):
        return "No rollout in the filter has a reward or a verdict, so there is none by length."
    figure = charts.by_length(found, rates=not screen.view.filter.by_outcome, height=HEIGHT)
    targets = [("rollouts", screen.view.place().but(len_min=each.low, len_max=each.high)) for each in found]
    alt = "Mean reward by length with its 95% band"
    return Drawn("rewards_length", "Reward by length", figure, alt, targets, _means(found, "characters"))


def variances(screen: Screen) -> Drawn | str:
    """Pass rate against variance of the rewards of each group."""
    run, filter_ = screen.run, screen.view.filter
    if filter_.by_outcome:
        return "The filter selects rollouts by outcome, so pass rates and pass@k would mean nothing."
    found = distributions.spread(run, filter_)
    if not found:
        return "No group in the filter has two rewards, so there is no variance."
    figure = charts.variances(found, aggregates.signal(run, filter_), height=HEIGHT)
    targets = [("rollouts", _of_groups(screen, each)) for each in found]
    rows = [(each.rate, each.variance, each.groups, escape.text(each.task_id)) for each in found]
    table = _table(rows, ["pass rate", "variance", "groups", "first task"])
    title = "Pass rate and variance of each group" + controls.pooled(screen, ", {} together")
    return Drawn("variances", title, figure, "Variance of the rewards against the pass rate", targets, table)


def pass_at_k(screen: Screen) -> Drawn | str:
    """The unbiased chance that the best of k rollouts passes, per model."""
    if screen.view.filter.by_outcome:
        return "The filter selects rollouts by outcome, so pass rates and pass@k would mean nothing."
    found = estimates.curves(screen.run, screen.view.filter)
    if not found.rows:
        return "No rollout in the filter was graded."
    figure = charts.pass_at_k(found.rows, height=HEIGHT)
    notes = _part(found.part("model"))
    if len(found.rows) == 1 and (curve := found.rows[0]).fewer:
        few = f"{counted(curve.fewer, 'task')} with fewer than {curve.points[-1].k} graded rollouts"
        notes.append(f"{few}: left out for larger k.")
    elif any(curve.fewer for curve in found.rows):
        notes.append("For each k, tasks with fewer graded rollouts of the model are left out.")
    rows = [(escape.text(c.model), k, e.value, e.low, e.high, tasks) for c in found.rows for k, tasks, e in c.points]
    table = _table(rows, ["model", "k", "pass@k", "95% low", "95% high", "tasks"])
    targets = [("rollouts", _of_model(screen, curve.model)) for curve in found.rows]
    return Drawn("pass_at_k", "pass@k, unbiased", figure, "pass@k against k with its 95% band", targets, table, notes)


def pass_rates(screen: Screen) -> Drawn | str:
    """Tasks by pass rate; a click shows the task by test case, or the list of tasks from there on."""
    run, filter_ = screen.run, screen.view.filter
    found = distributions.task_rates(run, filter_, _ROWS)
    if not found.total:
        return "No rollout in the filter was graded."
    rows = [(escape.text(task.task_id), task.graded, task.passed, task.passed / task.graded) for task in found.rows]
    if found.total <= distributions.TASKS_DRAWN:
        drawn = [Step(task.passed / task.graded, 1, task.task_id) for task in found.rows]
        targets = [("rollouts", screen.view.place().but(task=task.task_id)) for task in found.rows]
    else:
        counts = distributions.rate_counts(run, filter_)
        drawn = [Step(rate, tasks, counted(tasks, "task")) for rate, tasks in counts]
        before = itertools.accumulate((tasks for _, tasks in counts[:-1]), initial=0)
        targets = [("rollouts", _by_rate(screen, first)) for first in before]
    figure, part = charts.pass_rates(drawn, height=HEIGHT), found.part("task")
    title = "Pass rate of each task" + controls.pooled(screen, ", {} together")
    table = _table(rows, ["task", "graded", "passed", "pass rate"])
    notes = [f"The table has the {part}, lowest pass rate first."] if part else []
    return Drawn("task_rates", title, figure, "Pass rate of each task", targets, table, notes)


def wall_times(screen: Screen) -> Drawn | str:
    """How long rollouts took, against the limits."""
    found = distributions.wall_times(screen.run, screen.view.filter)
    if not found:
        return "No rollout in the filter has a wall time."
    limits = screen.run.manifest.options.limits
    lines = [(limits.wall_s, f"limit {limits.wall_s:g} s a test"), (limits.total_s, f"{limits.total_s:g} s in all")]
    figure = charts.wall_times(found, [line for line in lines if line[0] > 0], height=HEIGHT)
    targets = [("rollouts", _around(screen, tenth)) for tenth in sorted({each.tenth for each in found})]
    rows = [(*charts.edges(each.tenth), each.verdict, each.rollouts) for each in found]
    table = _table(rows, ["from s", "to s", "verdict", "rollouts"])
    return Drawn("wall_times", "Wall time and limits", figure, "Rollouts by wall time and verdict", targets, table)


def parts(screen: Screen) -> Drawn | str:
    """The mean of each part of the rewards, for graders that have parts."""
    found = distributions.part_means(screen.run, screen.view.filter)
    if not found.rows:
        return ""
    figure = charts.parts(found.rows, height=HEIGHT)
    targets = [("rollouts", _of_model(screen, each.model)) for each in found.rows]
    rows = [(escape.text(each.name), escape.text(each.model), each.rollouts, each.mean) for each in found.rows]
    drawn = len({each.name for each in found.rows})
    notes = [f"The first {drawn} of {counted(found.total, 'part')}."] if drawn < found.total else []
    table = _table(rows, ["part", "model", "rollouts", "mean"])
    return Drawn("reward_parts", "Parts of the reward", figure, "Mean of each part by model", targets, table, notes)


def _of_model(screen: Screen, model: str) -> View:
    """The rollouts of a model; those of all where its name can't be filtered."""
    here = screen.view.place()
    return here if model in (NO_MODEL, ALL) else here.but(model=model)


_FLAT = {0.0: "all_fail", 1.0: "all_pass"}
"""The filter's word for groups without a signal that have this pass rate."""


def _of_groups(screen: Screen, each: Spread) -> View:
    """The rollouts of one group; of several, all groups with a signal, or without one."""
    here = screen.view.place()
    if each.groups > 1:
        return here.but(signal="yes" if each.variance else _FLAT.get(each.rate, NO_SIGNAL))
    return here.but(task=each.task_id, step_min=each.step, step_max=each.step, model=each.model or here.filter.model)


def _rollouts(view: View, reward: float, width: float) -> Target:
    return "rollouts", view.but(r_min=reward - width / 2, r_max=reward + width / 2)


def _around(screen: Screen, tenth: int) -> View:
    low, high = charts.edges(tenth)
    return screen.view.place().but(wall_min=low if low > distributions.SHORTEST_S else None, wall_max=high)


def _by_rate(screen: Screen, first: int) -> View:
    return screen.view.place().but(sort="rate", page=1 + first // TASKS_PER_PAGE)


def _means(found: Sequence[Means], noun: str) -> pd.DataFrame:
    rows = [(escape.text(m.part), m.low, m.high, m.rollouts, m.tasks, m.reward, m.rate) for m in found]
    return _table(rows, ["model", f"{noun} from", "to", "rollouts", "tasks", "mean reward", "pass rate"])


def _part(part: str) -> list[str]:
    return [f"The {part}, by rollouts. Select a model in the filter to see it."] if part else []


def _table(rows: Sequence[tuple[object, ...]], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(rows[:_ROWS], columns=columns)


_FIGURES = (by_model, by_step, endings, variances, pass_at_k, wall_times, by_length, pass_rates, by_verdict, parts)
"""In the order of the page."""
_FIRST = 4
"""So many are drawn at first, above the fold: a browser takes long to draw a figure."""
_VIEWS = {"rewards": "Main figures", "more": "More figures", "all": "All"}


def head(screen: Screen) -> None:
    """Counts, mean reward, and the choice of figures."""
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        _counts(screen)
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        widgets.choice("Figures", _VIEWS, screen.view, key="w_figures", default="rewards")
    if screen.view.filter.by_outcome:
        facts.banner("The filter selects rollouts by outcome: all figures here are of these alone.", warn=True)


def _counts(screen: Screen) -> None:
    totals = aggregates.totals(screen.run, screen.view.filter)
    ours = [("sandbox_error", f"{totals.sandbox_error:,}"), ("not verified", f"{totals.unverified:,}")]
    facts.line(
        [
            ("rollouts", f"{totals.rollouts:,}"),
            ("with a reward", f"{totals.rewarded:,}"),
            ("mean reward" + controls.pooled(screen, " of {} together"), facts.number(totals.mean_reward)),
            (meanings.word(Verdict.UNKNOWN, recorded=screen.run.recorded), f"{totals.unknown:,}"),
            *([] if screen.run.recorded else ours),
        ],
        title="Rewards that the rollouts came with" if screen.run.recorded else "Rewards",
    )


def figures(screen: Screen) -> None:
    """The chosen figures in two columns, and below them a line about each that can't be drawn."""
    found: list[Drawn | str] = []
    drawn: list[Drawn] = []
    for draw in _FIGURES:
        if len(drawn) == _FIRST and screen.view.view not in ("all", "more"):
            break  # each takes a fifth of a second to make
        found.append(draw(screen))
        drawn = [each for each in found if not isinstance(each, str)]
    if screen.view.view == "more":
        drawn = drawn[_FIRST:]
    columns = st.columns(2, gap="medium")
    for index, each in enumerate(drawn):
        with columns[index % 2]:
            _show(each)
    for reason in dict.fromkeys(each for each in found if isinstance(each, str) and each):
        facts.note(reason)


def _show(drawn: Drawn) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"head_{drawn.key}"):
        facts.section(drawn.title)
        with st.popover("Table", key=f"table_{drawn.key}"):
            st.dataframe(drawn.table, width="content", hide_index=True, row_height=26)
    with st.container(key=f"figure_{drawn.key}"):
        charts.show(drawn.figure, drawn.key, drawn.alt, drawn.targets, fills=True)
    for note in drawn.notes:
        facts.note(note)
