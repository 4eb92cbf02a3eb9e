"""Figures count everything, or say what part of it they show; samples of several models are never taken for one's."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import estimates, rewards
from dashboard.queries import distributions
from dashboard.state import Filter
from evaluator.model import Flag, Verdict
from tests.dashboard.rows import Written, row
from tests.dashboard.test_pages import cards, text, visit
from tests.dashboard.test_rewards_page import drawn, screen_of

RAISED = {"verdict": Verdict.RUNTIME_ERROR}


def chart(app: AppTest, axis: str) -> dict[str, Any]:
    """The figure whose horizontal axis has this in its title."""
    specs = [json.loads(each.proto.spec) for each in app.get("plotly_chart")]
    (found,) = [spec for spec in specs if axis in spec["layout"]["xaxis"]["title"]["text"]]
    return found


def test_a_run_of_many_tasks_has_all_of_them_in_its_chart(written: Written) -> None:
    rates = [task % 5 / 4 for task in range(1_005)]
    written([row(f"t{t}", f"t{t}#{k}", reward=float(k < 4 * rate)) for t, rate in enumerate(rates) for k in range(4)])
    app = visit("rewards", view="all")
    figure = chart(app, "tasks, lowest first")
    assert "n = 1,005; 201 at 0, 201 at 1" in figure["layout"]["xaxis"]["title"]["text"]
    (bars,) = figure["data"]
    assert len(json.dumps(bars)) < 5_000
    assert bars["text"] == ["201 tasks"] * 5
    assert "first 1,000 of 1,005 tasks, lowest pass rate first" in text(app)


def test_pass_rates_of_many_tasks_are_in_steps_and_none_and_all_are_steps_of_their_own(written: Written) -> None:
    run = written([row(f"t{t}", f"t{t}#{k}", reward=float(k < t)) for t in range(111) for k in range(110)])
    counts = distributions.rate_counts(run, Filter())
    assert (counts[0], counts[-1]) == ((0.0, 1), (1.0, 1))
    assert (len(counts), sum(tasks for _, tasks in counts)) == (101, 111)


def test_few_tasks_have_a_bar_each(written: Written) -> None:
    run = written([row(f"t{t}", f"t{t}", reward=float(t == 2)) for t in range(3)])
    (bars,) = drawn(rewards.pass_rates(screen_of(run))).figure.data
    assert list(bars.text) == ["t0", "t1", "t2"]


def test_six_models_with_a_sample_each_are_six_curves_of_one_sample(written: Written) -> None:
    names = ["a", "b", "c", "d", "e", None]
    samples = [(t, m, name) for t in range(12) for m, name in enumerate(names)]
    run = written([row(f"t{t}", f"t{t}-{m}", reward=float(t % 6 >= m), model=name) for t, m, name in samples])
    curves = estimates.curves(run, Filter())
    assert [[point.k for point in curve.points] for curve in curves.rows] == [[1]] * 6
    assert [round(curve.points[0].estimate.value * 6) for curve in curves.rows] == [6, 5, 4, 3, 2, 1]
    app = visit("rewards", view="all")
    drawn = [trace["name"] for trace in chart(app, "k (6 models")["data"] if trace.get("showlegend") is not False]
    assert drawn == ["a", "b", "c", "d", "e", "no model named"]
    assert "Pass rate of each task, 6 models together" in text(app)
    assert {"pass@1, 6 models", "mean reward, 6 models"} <= cards(visit("overview")).keys()


def test_of_very_many_models_the_first_are_drawn_and_the_others_counted(written: Written) -> None:
    written([row("t", f"s{n}", reward=1.0, model=f"m{n % 31:02}") for n in range(93)])
    app = visit("rewards", view="all")
    assert "The first 8 of 31 models, by rollouts." in text(app)
    names = chart(app, "mean reward over tasks (n = 1 task")["layout"]["yaxis"]["ticktext"]
    assert names == [f"m{n:02} 1.000" for n in reversed(range(8))]


def test_lists_say_of_how_many_they_are_the_first(written: Written) -> None:
    kinds = [f"{a}{b}" for a in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM" for b in "abcdefghijklmnopqrstuvwxyz"]
    written([
        row("t", f"s{n}", reward=0.0, **RAISED, error_type=f"{kind}Error", verified=False, unverified_reason=kind,
            flags=(Flag("missing_package", kind),))
        for n, kind in enumerate(kinds)
    ])  # fmt: skip
    shown = text(app := visit("overview"))
    for noun in ("kinds", "missing packages", "reasons"):
        assert f"first 1,000 of 1,014 {noun}" in shown
    assert {"Error (first 1,000 of 1,014)", "Flag (first 1,000 of 1,015)"} <= {box.label for box in app.selectbox}
    assert "first 500 of 1,014 rollouts of this task" in text(visit("rollouts", task="t"))


@pytest.mark.parametrize(
    "rewards",
    [
        [1.7e308, -1.7e308],
        pytest.param([5e-324 * n for n in range(40)], marks=pytest.mark.slow),
    ],
    ids=["large", "small"],
)
def test_rewards_at_the_ends_of_what_a_number_can_be_are_drawn(written: Written, rewards: list[float]) -> None:
    run = written([row("t", f"s{n}", reward=reward) for n, reward in enumerate(rewards)])
    assert sum(count for _, _, count in distributions.reward_values(run, Filter())) == len(rewards)
    for page in ("overview", "rewards", "completion", "rollouts"):
        visit(page)
