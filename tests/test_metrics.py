"""pass@k and intervals, against brute force and known values."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.runs.metrics import mcnemar, mean_over_tasks, paired_difference, pass_at_k, pass_at_k_over_tasks, wilson


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_with_a_pass(case: tuple[int, int, int]) -> None:
    n, c, k = case
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_pass_at_k_of_many_tasks_at_once() -> None:
    got = pass_at_k([10, 10, 10, 2, 1000], [0, 10, 3, 1, 1], 5)
    assert got[:3] == pytest.approx([0.0, 1.0, 1 - math.comb(7, 5) / math.comb(10, 5)])
    assert math.isnan(got[3])
    assert got[4] == pytest.approx(0.005)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_pass_at_k_refuses_what_can_not_be(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"k must be at least 1|between 0 and n"):
        pass_at_k(n, c, k)


def test_wilson_intervals_of_the_literature() -> None:
    # Newcombe (1998), Table I, method 3.
    for passed, total, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611)]:
        interval = wilson(passed, total)
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)
    assert wilson(20, 20).high == 1.0
    assert math.isnan(wilson(0, 0).value)


def test_the_bootstrap_is_the_same_every_time_and_about_right() -> None:
    values = np.random.default_rng(1).random(400)
    interval = mean_over_tasks(values)
    half = 1.96 * values.std() / 20
    assert interval == mean_over_tasks(values)
    assert interval.value == pytest.approx(values.mean())
    assert (interval.low, interval.high) == pytest.approx((interval.value - half, interval.value + half), abs=0.004)
    assert mean_over_tasks([0.5, math.nan, 0.5])[:4] == (0.5, 0.5, 0.5, 2)


def test_the_interval_does_not_jump_where_resampling_ends() -> None:
    few, many = (mean_over_tasks(np.tile([0.0, 1.0], half)) for half in (500, 501))
    assert (few.method, many.method) == ("bootstrap over tasks", "standard error over tasks")
    assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=0.001)


def test_tasks_weigh_the_same_however_many_rollouts_they_have() -> None:
    assert pass_at_k_over_tasks([100, 2], [0, 2]).value == 0.5


def test_an_interval_is_never_of_no_width_by_accident() -> None:
    all_pass = pass_at_k_over_tasks([4, 4, 4], [4, 4, 4])
    assert (all_pass.value, all_pass.high) == (1.0, 1.0)
    assert all_pass.low < 0.5
    all_half = pass_at_k_over_tasks([2] * 28, [1] * 28)
    assert all_half[:3] == pytest.approx((0.5, 0.326, 0.674), abs=0.001)
    one_task = pass_at_k_over_tasks([10], [5])
    assert (one_task.n, one_task.method) == (10, "Wilson")
    assert one_task.high - one_task.low > 0.3


def test_tasks_with_too_few_rollouts_are_left_out_of_pass_at_k() -> None:
    interval = pass_at_k_over_tasks([8, 8, 2], [8, 1, 0], 4)
    assert interval.n == 2
    assert interval.value == pytest.approx((1 + 0.5) / 2)
    assert pass_at_k_over_tasks([1, 1], [1, 1], 2).method == "none"


def test_nothing_graded_gives_no_figure() -> None:
    assert math.isnan(pass_at_k_over_tasks([], []).value)
    assert pass_at_k_over_tasks([0], [0]).n == 0


@pytest.mark.parametrize(
    ("fixed", "broken", "p"),
    [
        (0, 0, 1.0),
        (6, 0, 2 / 64),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
        (2, 8, 2 * (1 + 10 + 45) / 1024),
        (5, 5, 1.0),
        (4, 5, 1.0),
    ],
)
def test_mcnemar_is_the_binomial_tail_on_both_sides(fixed: int, broken: int, p: float) -> None:
    assert mcnemar(fixed, broken) == pytest.approx(p, rel=1e-12)


def test_mcnemar_of_many_tasks_is_near_the_normal_one() -> None:
    z = (50_400 - 49_600 - 1) / math.sqrt(100_000)
    assert mcnemar(50_400, 49_600) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-3)


def test_a_paired_difference_is_narrower_than_its_sides() -> None:
    a = np.random.default_rng(2).random(300)
    b = a + 0.05 + np.random.default_rng(3).normal(0, 0.02, 300)
    difference = paired_difference(a, b)
    assert difference == paired_difference(a, b)
    assert difference.value == pytest.approx(0.05, abs=0.005)
    assert difference.low > 0.04
    assert mean_over_tasks(b).high - mean_over_tasks(b).low > 5 * (difference.high - difference.low)
    assert paired_difference([0.5, 1.0], [0.5, 0.5]).value == -0.25
