"""Rows of query, answer and metadata: what they become, and what is said of those that can't be read."""

from collections.abc import Callable
from typing import Any

import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.graders import grader_of
from evaluator.model import Mode

Read = Callable[..., tuple[str, list[Any], list[str]]]
Row = dict[str, Any]

ROW = {"query": "6 * 7?", "answer": 42, "metadata": {"task_id": "sum", "topic": "math"}}


@pytest.mark.parametrize(
    "named",
    [
        {"grader": "exact_match:numbers=true"},
        {"grader": {"name": "exact_match", "numbers": True}},
        {"metadata": {"grader": "exact_match:numbers=true"}},
        {"metadata": {"grader": {"name": "exact_match", "numbers": True}}},
        {"metadata": '{"grader": "exact_match:numbers=true"}'},
        {"grader": "exact_match:numbers=true", "metadata": {"grader": "structured"}},
    ],
)
def test_a_row_names_its_grader_at_the_top_or_in_its_metadata(read: Read, named: dict[str, object]) -> None:
    _, [task], problems = read(load_tasks, ROW | named)
    assert problems == []
    [case] = grader_of(task, "structured").test_cases(task)
    assert case.input == "exact match: the whole text, numbers true"
    assert "grader" not in task.metadata


def test_ids(read: Read) -> None:
    bare = {"query": "a?", "answer": "a"}
    named = bare | {"task_id": "x"}, bare | {"id": 7}, bare | {"metadata": {"id": "m"}}
    _, tasks, problems = read(load_tasks, *named, bare, bare)
    assert [task.task_id for task in tasks][:3] == ["x", "7", "m"]
    assert tasks[3].task_id.startswith("prompt-")
    assert len(tasks) == 4
    assert "already on line 4" in problems[0]


def test_messages_are_a_prompt_too(read: Read) -> None:
    query = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6 * 7?"}]
    _, [task], _ = read(load_tasks, ROW | {"query": query})
    assert task.prompt == "Be brief.\n\n6 * 7?"


def test_samples_find_their_task_by_its_query(read: Read) -> None:
    row = {"query": "a?", "answer": "a"}
    _, [task], _ = read(load_tasks, row)
    messages = row | {"completion": [{"role": "assistant", "content": "a"}]}
    name, rollouts, problems = read(load_rollouts, row | {"response": "b", "model": "m"}, messages)
    assert (name, problems) == ("query_answer", [])
    assert [rollout.task_id for rollout in rollouts] == [task.task_id] * 2
    assert [(rollout.completion, rollout.model) for rollout in rollouts] == [("b", "m"), ("a", None)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW | {"answer": None}, "answer is missing"),
        (ROW | {"metadata": 3}, "metadata must be an object"),
        (ROW | {"metadata": "{"}, "metadata is text that is not JSON"),
        (ROW | {"grader": 3}, "grader is int"),
        (ROW | {"query": 3}, "query must be text"),
        ({"query": "", "answer": 1, "metadata": {}}, "neither an id nor text in query"),
        (ROW | {"task_id": [1]}, "task_id"),
    ],
)
def test_a_row_that_can_not_be_read_is_reported_and_the_others_are(read: Read, row: Row, message: str) -> None:
    _, tasks, problems = read(load_tasks, {"query": "b?", "answer": "b", "metadata": {}}, row)
    assert [task.answer for task in tasks] == ["b"]
    assert message in problems[0]


def test_native_rows_with_an_answer_stay_native(read: Read) -> None:
    name, [task], _ = read(load_tasks, {"task_id": "a", "prompt": "?", "answer": [1, "x"], "grader": "exact_match"})
    assert (name, task.mode, task.answer, task.grader) == ("native", Mode.ANSWER, [1, "x"], "exact_match")
    name, _, _ = read(load_tasks, {"task_id": "a", "answer": "x"})
    assert name == "native"
