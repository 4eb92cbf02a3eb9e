"""The Rewards page: what is drawn for which run, and that each mark opens the rollouts that it counts."""

import statistics

import pytest

from dashboard import charts, controls, estimates, rewards, workspace
from dashboard.controls import Screen
from dashboard.queries import distributions, query
from dashboard.rewards import Drawn
from dashboard.state import Filter, View
from dashboard.workspace import Entry, OpenRun
from evaluator.model import CaseResult, Component, Verdict
from tests.dashboard import rows
from tests.dashboard.rows import Row, Show, Written, row
from tests.dashboard.test_pages import text, visit

MODELS = ("small", "large")
EVERYTHING = Filter()


def rollouts() -> list[Row]:
    """Two models over three steps: rewards in parts, times, lengths, and groups with and without signal."""
    return [
        row(
            f"t{task}", f"t{task}#{n}", reward=round(0.8 * passed + 0.01 * n + 0.001 * task, 3), model=MODELS[n % 2],
            step=n % 3 * 10, verdict=Verdict.PASSED if passed else Verdict.WRONG_ANSWER,
            completion="x" * (10 * n + task),
            components=(Component(name="tests", reward=float(passed)), Component(name="form", reward=0.1 * n)),
            cases=(CaseResult(index=0, verdict=Verdict.PASSED if passed else Verdict.WRONG_ANSWER, wall_s=0.1 * n),),
        )
        for task in range(5)
        for n in range(12)
        for passed in [n < 3 * task]
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    return workspace.open_run(Entry("run", rows.write(tmp_path_factory.mktemp("rewards") / "run", rollouts())))


def screen_of(run: OpenRun, filter_: Filter = EVERYTHING) -> Screen:
    total = query.count(run, Filter())
    return controls.Screen(View(run=run.name, filter=filter_), run, query.count(run, filter_), total)


def drawn(found: Drawn | str) -> Drawn:
    assert isinstance(found, Drawn), found
    return found


def counts(run: OpenRun, figure: Drawn) -> list[int]:
    """How many rollouts each target of a figure opens."""
    return [query.count(run, view.filter) for _, view in figure.targets]


def test_each_model_has_a_bar_with_its_interval_that_opens_its_rollouts(run: OpenRun) -> None:
    figure = drawn(rewards.by_model(screen_of(run)))
    (bar,) = figure.figure.data
    means = [estimates.mean_reward(run, Filter(), name) for name in ("large", "small")]
    assert list(bar.x) == [mean.value for mean in means]
    assert list(bar.error_x.arrayminus) == [mean.value - mean.low for mean in means]
    assert [view.filter.model for _, view in figure.targets] == ["large", "small"]
    assert [name.split()[0] for name in figure.figure.layout.yaxis.ticktext] == ["small", "large"]  # the first on top


def test_figures_without_data_are_a_line_instead_of_empty_axes(written: Written) -> None:
    bare = written([row("t", f"s{n}", reward=None, step=n) for n in range(3)])
    for figure in (rewards.by_model, rewards.by_step, rewards.by_length):
        assert str(figure(screen_of(bare))).startswith("No rollout in the filter has")


def test_steps_have_a_line_per_model_where_models_share_them(run: OpenRun) -> None:
    figure = drawn(rewards.by_step(screen_of(run)))
    lines = [trace for trace in figure.figure.data if trace.customdata]
    assert [(line.name, list(line.x)) for line in lines] == [("large", [0, 10, 20]), ("small", [0, 10, 20])]
    assert sum(counts(run, figure)) == 60
    marks = [int(data[0]) for trace in figure.figure.data for data in (trace.customdata or ())]
    assert sorted(marks) == list(range(6))
    opened = {(view.filter.model, view.filter.step_min, view.filter.step_max) for _, view in figure.targets}
    assert ("small", 10, 10) in opened
    bands = [charts.curves.step_reward(point) for point in distributions.by_step(run, Filter())]
    assert all(each.low <= each.value <= each.high for each in bands)


def test_a_model_of_one_step_each_is_a_point_of_one_line(written: Written) -> None:
    run = written(
        [row(f"t{t}", f"{t} {s}", reward=float(t < s), model=f"step-{s}", step=s) for t in range(4) for s in (1, 2)]
    )
    figure = drawn(rewards.by_step(screen_of(run)))
    (line,) = [trace for trace in figure.figure.data if trace.customdata]
    assert (line.name, list(line.y)) == ("mean reward = pass rate", [0.25, 0.5])


def test_many_steps_are_put_into_bins_that_count_every_rollout(written: Written) -> None:
    run = written([row("t", f"s{n}", reward=float(n % 2), step=3 * n) for n in range(400)])
    found = distributions.by_step(run, Filter())
    assert len(found) <= 120
    assert sum(point.rollouts for point in found) == 400
    assert sum(counts(run, drawn(rewards.by_step(screen_of(run))))) == 400


def test_a_run_without_steps_says_so_in_a_line(written: Written) -> None:
    written([row("t", f"s{n}", reward=float(n)) for n in range(2)])
    shown = text(visit("rewards", view="all"))
    assert "No rollout in the filter has a step" in shown
    for title in ("Reward by model", "Pass rate and variance of each group", "pass@k, unbiased"):
        assert title in shown
    assert "Parts of the reward" not in shown


def test_the_variance_of_a_group_is_that_of_its_rewards(run: OpenRun) -> None:
    rewards: dict[object, list[float]] = {}
    for rollout, grade in rollouts():
        rewards.setdefault((rollout.task_id, rollout.model, rollout.step), []).append(grade.reward or 0.0)
    expected = {round(statistics.pvariance(each), 9) for each in rewards.values()}
    found = distributions.spread(run, Filter())
    assert (sum(each.groups for each in found), {each.variance for each in found}) == (len(rewards), expected)


def test_groups_without_signal_are_counted_beside_the_variances(written: Written) -> None:
    binary = written([row(f"g{g}", f"{g} {n}", reward=float(n < g)) for g in range(5) for n in range(4)])
    assert [each.variance for each in distributions.spread(binary, Filter())] == [0, 0.1875, 0.25, 0.1875, 0]
    figure = drawn(rewards.variances(screen_of(binary)))
    assert "n = 5 groups; 2 without signal: 1 all fail, 1 all pass" in figure.figure.layout.xaxis.title.text
    assert [view.task for _, view in figure.targets] == ["g0", "g1", "g2", "g3", "g4"]


def test_wall_times_lengths_and_parts_open_what_they_count(run: OpenRun) -> None:
    found = distributions.wall_times(run, Filter())
    assert sum(each.rollouts for each in found) == 60
    figure = drawn(rewards.wall_times(screen_of(run)))
    tenths = sorted({each.tenth for each in found})
    assert counts(run, figure) == [sum(each.rollouts for each in found if each.tenth == tenth) for tenth in tenths]
    assert [shape.x0 for shape in figure.figure.layout.shapes] == pytest.approx([1, 1.778], abs=1e-3)
    figure = drawn(rewards.by_length(screen_of(run)))
    assert counts(run, figure) == [point.rollouts for point in distributions.by_length(run, Filter())]
    parts = distributions.part_means(run, Filter())
    assert {(each.name, each.model): each.rollouts for each in parts.rows} == {
        (name, model): 30 for name in ("tests", "form") for model in MODELS
    }
    (mean,) = [each.mean for each in parts.rows if (each.name, each.model) == ("form", "small")]
    assert mean == pytest.approx(0.5)
    assert counts(run, drawn(rewards.parts(screen_of(run)))) == [30] * 4
    assert {each.model for each in distributions.part_means(run, Filter(model="small")).rows} == {"small"}


def test_pass_at_k_is_on_a_doubling_axis_and_counts_tasks(run: OpenRun) -> None:
    figure = drawn(rewards.pass_at_k(screen_of(run, Filter(model="small"))))
    line = figure.figure.data[-1]
    assert list(line.x) == pytest.approx([0, 1, 2, 2.585], abs=1e-3)
    assert list(figure.figure.layout.xaxis.ticktext) == ["1", "2", "4", "6"]
    assert figure.targets[0][1].filter == Filter(model="small")
    one = drawn(rewards.pass_at_k(screen_of(run, Filter(model="small", q="t1"))))
    assert "k (n = 1 task, 95% band)" in one.figure.layout.xaxis.title.text


def test_a_filter_by_outcome_leaves_out_what_it_makes_meaningless(run: OpenRun, show: Show) -> None:
    show(run.path)
    shown = text(visit("rewards", verdict="passed", view="all"))
    assert shown.count("pass rates and pass@k would mean nothing") == 1
    assert "Reward by model" in shown
    assert "Reward by step" in shown
    assert "pass@k, unbiased" not in shown
