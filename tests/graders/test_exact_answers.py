"""What a program answers beside what is expected, graded as a whole: near numbers, sets, and far too much output."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from evaluator.model import Task, Verdict
from tests.graders.conftest import Graded


def program(expected: str, **more: Any) -> Task:
    return Task.from_row(
        {"task_id": "t", "mode": "stdin", "in_outs": {"inputs": ["1\n"], "outputs": [expected]}, **more}
    )


def call(expected: str, **more: Any) -> Task:
    in_outs = {"inputs": ["[2, 1, 3]"], "outputs": [expected], "fn_name": "f"}
    return Task.from_row({"task_id": "t", "mode": "call", "entry_point": "f", "in_outs": in_outs, **more})


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        ("123456789", "123456789.0", "123456700."),
        ("1000000007", "1000000007.", "1e9"),
        ("1000000000000000007", "1000000000000000007.0", "1000000000000000000.0"),
        ("0.5 7", "0.5000001 7.0", "0.5 7.0000001"),
    ],
)
def test_a_printed_number_is_the_expected_whole_number_exactly(
    graded: Graded, expected: str, right: str, wrong: str
) -> None:
    assert graded(program(expected), f"print({right!r})").reward == 1.0
    refused = graded(program(expected), f"print({wrong!r})")
    assert (refused.verdict, refused.reward) == (Verdict.WRONG_ANSWER, 0.0)


def test_a_returned_float_is_the_expected_int_exactly(graded: Graded) -> None:
    source = "def f(a):\n    return {}"
    assert graded(call("5"), source.format("5.0")).reward == 1.0
    assert graded(call("[[1000000000000000000]]"), source.format("[(1e18,)]")).reward == 1.0
    assert graded(call("1000000000000000007"), source.format("1e18")).verdict is Verdict.WRONG_ANSWER
    assert graded(call("1000000000000000007.0"), source.format("10**18")).reward == 1.0


def test_a_set_is_no_sorted_list(graded: Graded) -> None:
    as_set = "def f(a):\n    return set(a)"
    refused = graded(call("[1, 2, 3]"), as_set)
    assert (refused.verdict, refused.reward) == (Verdict.WRONG_ANSWER, 0.0)
    assert refused.error_message == "expected [1, 2, 3], got {1, 2, 3}"
    assert graded(call("[1, 2, 3]", checker="unordered"), as_set).reward == 1.0
    assert graded(call("[1, 2, 3]", checker="unordered"), "def f(a):\n    return a").reward == 1.0
    assert graded(call("[1, 2, 3]", checker="unordered"), "def f(a):\n    return [1, 2, 3, 3]").reward == 0.0


@pytest.mark.parametrize("checker", ["floats", "lines", "unordered", "livecodebench", "colossalai"])
def test_millions_of_lines_where_one_is_expected_are_never_all_held(graded: Graded, checker: str) -> None:
    right = 'print("\\n" * 4_000_000, end="7")' if checker == "colossalai" else 'print(7, "\\n" * 4_000_000)'
    tracemalloc.start()
    try:
        assert graded(program("7", checker=checker), right).reward == 1.0
        assert graded(program("7", checker=checker), 'print("7\\n" * 2_000_000)').reward == 0.0
        assert tracemalloc.get_traced_memory()[1] < 40_000_000  # a list of the lines takes 32 MB, and its copies more
    finally:
        tracemalloc.stop()
