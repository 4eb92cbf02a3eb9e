"""Samples that answer all test cases of a task alike, and fail in the same way, are one behaviour."""

from dashboard import compare
from dashboard.queries import behaviours, comparison, distributions, query
from dashboard.queries.behaviours import Place
from dashboard.queries.comparison import Side
from dashboard.state import Filter
from evaluator.model import CaseResult, Verdict
from tests.dashboard.rows import Written, row


def answers(*actual: str, expected: str = "1") -> tuple[CaseResult, ...]:
    return tuple(
        CaseResult(
            index=index, expected=expected, actual=each,
            verdict=Verdict.PASSED if each == expected else Verdict.WRONG_ANSWER,
        )
        for index, each in enumerate(actual)
    )  # fmt: skip


def test_samples_are_grouped_by_all_that_they_answer(written: Written) -> None:
    run = written([
        row("t", "a", reward=0.0, cases=answers("1", "2"), model="m"),
        row("t", "b", reward=1.0, cases=answers("1", "1"), model="m"),
        row("t", "c", reward=0.0, cases=answers("1", "2"), model="n"),
        row("t", "d", reward=0.0, cases=answers("2", "1"), model="n"),
        row("other", "e", reward=0.0, cases=answers("1", "2"), model="m"),
    ])  # fmt: skip
    found = behaviours.of_samples(run, "t")
    assert [(each.verdict, each.rollouts, each.samples) for each in found.rows] == [
        ("wrong_answer", 2, ["a", "c"]), ("passed", 1, ["b"]), ("wrong_answer", 1, ["d"]),
    ]  # fmt: skip
    assert [each.text for each in found.rows] == ["test 1: 2", "all 2 tests", "test 0: 2"]
    assert behaviours.sentence(found) == "4 samples, 3 behaviours: 2, 1, 1"
    assert behaviours.of_sample(run, "t", "c") == Place(number=1, behaviours=3, alike=2, samples=4)
    assert behaviours.of_sample(run, "other", "e") is None


def test_a_filter_leaves_the_first_of_each_that_the_rest_of_it_lets_through(written: Written) -> None:
    run = written([
        row("t", "a", reward=0.0, cases=answers("2"), model="m"),
        row("t", "b", reward=0.0, cases=answers("2"), model="n"),
        row("t", "c", reward=0.0, cases=answers("2"), model="n"),
        row("t", "d", reward=1.0, cases=answers("1"), model="n"),
    ])  # fmt: skip
    names = dict(run.rows('SELECT "row", sample_id FROM rollouts'))
    shown = [[names[place] for place in query.rows_inside(run, Filter(alike="first", model=m))] for m in ("", "n")]
    assert [sorted(each) for each in shown] == [["a", "d"], ["b", "d"]]


def test_a_comparison_shows_a_typical_sample_of_each_side(written: Written) -> None:
    run = written([
        row("t", "a", reward=0.0, cases=answers("3"), step=1),
        row("t", "b", reward=0.0, cases=answers("2"), step=1),
        row("t", "c", reward=0.0, cases=answers("2"), step=1),
        row("t", "d", reward=1.0, cases=answers("1"), step=2),
    ])  # fmt: skip
    found = comparison.samples(Side(run, "", step=1), Filter(), "t")
    assert compare.typical(found, "", passed=False).sample_id == "b"
    assert compare.typical(found, "a", passed=False).sample_id == "a"


def test_verdicts_by_step_count_every_rollout(written: Written) -> None:
    steps = range(1, 301)
    run = written([row("t", str(n), reward=float(n % 2), cases=(), step=n) for n in steps])
    found = distributions.endings(run, Filter())
    assert sum(each.rollouts for each in found) == len(steps)
    assert len({each.low for each in found}) <= 120
    assert {each.verdict for each in found} == {"passed", "wrong_answer"}
