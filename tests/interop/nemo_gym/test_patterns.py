"""The verification patterns of NeMo Gym's tutorial, had by configuration of `rollscope serve nemo-gym` alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.graders.judge_server import PATIENCE_S, JudgeServer, judge_server, refuses, says
from tests.interop.nemo_gym.client import Client, answer_of, fenced

Server = Callable[..., str]

ASKED = {"input": [{"role": "user", "content": "What is the capital of France?"}]}
SQUARES = {"inputs": ["2\n", "5\n", "-1\n", "0\n"], "outputs": ["4", "25", "1", "0"]}
HALF = fenced("n = int(input())\nprint(n * n if n > 0 else 'no')")
SHAPE = "{grader: {name: structured, required: [name, value], ranges: {value: [0, 100]}}}"


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeServer]:
    with judge_server() as running:
        yield running


def verified(url: str, text: str, metadata: object = None, **row: object) -> dict[str, Any]:
    body = {"responses_create_params": ASKED, "response": answer_of(text), "verifier_metadata": metadata, **row}
    answer = Client(url).post("/verify", body)
    assert answer.status == 200, answer
    told: dict[str, Any] = answer.body
    return told


def paid(told: dict[str, Any]) -> float:
    assert not told["mask_sample"], told["failure_reason"]
    return float(told["reward"])


@pytest.mark.parametrize(
    ("text", "reward"), [("Paris", 1.0), (" Paris\n", 1.0), ("London", 0.0), ("paris", 0.0), ("", 0.0)]
)
@pytest.mark.parametrize("place", ["verifier_metadata", "the row"])
def test_exact_match(server: Server, text: str, reward: float, place: str) -> None:
    known = {"metadata": {"answer": "Paris"}} if place == "verifier_metadata" else {"answer": "Paris"}
    assert paid(verified(server("grader: exact_match"), text, **known)) == reward


def test_a_row_with_an_answer_needs_no_grader_to_be_named(server: Server) -> None:
    assert paid(verified(server(), "Paris", answer="Paris")) == 1.0


def test_exact_match_with_options(server: Server) -> None:
    url = server("grader: {name: exact_match, marker: 'Answer:', case: ignore}")
    assert paid(verified(url, "France, so\nAnswer: PARIS", {"answer": "Paris"})) == 1.0


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ('{"name": "a", "value": 7}', 1.0),
        ('{"name": "a", "value": 700}', 3 / 4),
        ('{"value": 7}', 3 / 4),
        ('["name", "value"]', 1 / 4),
        ("5", 1 / 4),
        ("no JSON", 0.0),
    ],
)
def test_programmatic_checks(server: Server, text: str, reward: float) -> None:
    """Valid JSON, the two fields, the range: each a share. What is no object fails checks, and breaks nothing."""
    assert paid(verified(server(SHAPE), text, {"answer": "{}"})) == pytest.approx(reward)


def similarity(judge: JudgeServer, **more: object) -> str:
    options = {"name": "similarity", "model": "m", "base_url": judge.url, "scale": 10, "cache": False}
    return json.dumps({"grader": options | {"retries": 1, "backoff_s": 0, "timeout_s": PATIENCE_S} | more})


def test_semantic_similarity(server: Server, judge: JudgeServer) -> None:
    judge.answers = [says("Close.\nScore: 7")]
    told = verified(server(similarity(judge)), "The city of Paris", reference_answer="Paris")
    assert paid(told) == 0.7
    assert "The city of Paris" in judge.asked[-1].text


@pytest.mark.parametrize("answer", [says("I will not say."), refuses(500, "down"), says("Score: 11")])
def test_a_judge_that_fails_masks_the_rollout(server: Server, judge: JudgeServer, answer: Any) -> None:
    judge.answers = [answer]
    told = verified(server(similarity(judge)), "Paris", {"answer": "Paris"})
    assert (told["mask_sample"], told["failure_kind"], told["reward"]) == (True, "judge_failed", 0.0)
    assert told["failure_reason"]


def test_several_metrics(server: Server) -> None:
    parts = [
        {"grader": "tests:reward=fraction", "weight": 0.8, "name": "accuracy"},
        {"grader": "tests", "weight": 0.2, "name": "complete"},
    ]
    url = server(json.dumps({"grader": {"name": "weighted", "graders": parts}, "run_all_tests": True}))
    told = verified(url, HALF, {"unit_tests": SQUARES})
    assert paid(told) == pytest.approx(0.4)
    assert told["reward_components"] == {"accuracy": 0.5, "complete": 0.0}
    assert (told["component_accuracy"], told["component_complete"]) == (0.5, 0.0)


@pytest.mark.parametrize(("checker", "reward"), [("exact", 0.0), ("lines", 1.0), ("tokens", 1.0), ("unordered", 1.0)])
def test_a_checker_by_name(server: Server, checker: str, reward: float) -> None:
    told = verified(
        server(f"checker: {checker}"), fenced("print(4, ' ')"), {"unit_tests": {"inputs": [""], "outputs": ["4\n"]}}
    )
    assert paid(told) == reward
