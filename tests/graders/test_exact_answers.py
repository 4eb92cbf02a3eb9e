"""What a program answers beside what is expected, graded as a whole: near numbers, sets, and far too much output."""

import tracemalloc
from typing import Any

import pytest

from evaluator.model import Task, Verdict
from tests.graders.conftest import Graded


def program(expected: str, **more: Any) -> Task:
    in_outs = {"inputs": ["1\n"], "outputs": [expected]}
    return Task.from_row({"task_id": "t", "mode": "stdin", "in_outs": in_outs, **more})


def test_a_number_is_the_expected_whole_number_exactly_and_a_set_no_list(graded: Graded) -> None:
    assert graded(program("1000000000000000007"), "print('1000000000000000007.0')").reward == 1.0
    assert graded(program("1000000000000000007"), "print('1e18')").verdict is Verdict.WRONG_ANSWER
    in_outs = {"inputs": ["[2, 1, 3]"], "outputs": ["[1, 2, 1000000000000000000]"], "fn_name": "f"}
    row = {"task_id": "t", "mode": "call", "entry_point": "f", "in_outs": in_outs}
    assert graded(Task.from_row(row), "def f(a): return (1, 2.0, 1e18)").reward == 1.0
    as_set = "def f(a): return {1, 2, 10**18}"
    refused = graded(Task.from_row(row), as_set)
    assert (refused.verdict, refused.reward) == (Verdict.WRONG_ANSWER, 0.0)
    assert str(refused.error_message).startswith("expected [1, 2, 1000000000000000000], got {")
    assert graded(Task.from_row(row | {"checker": "unordered"}), as_set).reward == 1.0


@pytest.mark.parametrize("checker", ["floats", pytest.param("colossalai", marks=pytest.mark.slow)])
def test_millions_of_lines_where_one_is_expected_are_never_all_held(graded: Graded, checker: str) -> None:
    right = 'print("\\n" * 4_000_000, end="7")' if checker == "colossalai" else 'print(7, "\\n" * 4_000_000)'
    tracemalloc.start()
    try:
        assert graded(program("7", checker=checker), right).reward == 1.0
        assert graded(program("7", checker=checker), 'print("7\\n" * 2_000_000)').reward == 0.0
        assert tracemalloc.get_traced_memory()[1] < 40_000_000  # a list of the lines takes 32 MB, and its copies more
    finally:
        tracemalloc.stop()
