"""Calls between the two processes of a test suite, here both in this one: what they cost, and what may interrupt."""

import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest

from evaluator.suites.guest.exchange import Turn
from evaluator.suites.guest.suite_roles import connected
from tests.suites.guest.orders import order


def seen_by_a_test(function: Callable[..., Any]) -> Callable[..., Any]:
    made = order("assert candidate([]) == []")
    found: Callable[..., Any] = connected({"candidate": function}, made).look_up(["candidate"])[0]["candidate"]
    return found


def work(call: Callable[[], object]) -> int:
    """How many functions are called meanwhile."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "function",
    [lambda rows: rows.sort(), lambda rows: [row * 2 for row in rows], lambda rows: rows.pop()],
    ids=["in place", "new inner", "one of it"],
)
def test_a_call_costs_no_more_for_what_earlier_ones_were_given(function: Callable[..., Any]) -> None:
    """However much of it the test still has: benchmarks keep a thousand inputs in a list, and go through it."""
    given = [[[number, 1], [2, number]] for number in range(300)]
    candidate = seen_by_a_test(function)
    costs = [work(lambda rows=rows: candidate(rows)) for rows in given]  # type: ignore[misc]
    assert max(costs[250:]) < 1.5 * max(costs[5:10]), costs


def test_a_signal_that_comes_while_a_call_is_under_way_is_handled_after_it() -> None:
    handled: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: handled.append(number))
    turn = Turn()
    try:
        with turn, turn:
            signal.raise_signal(signal.SIGUSR1)
            assert handled == []
        assert handled == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)
