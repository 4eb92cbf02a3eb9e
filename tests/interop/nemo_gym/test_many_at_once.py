"""Sixty-four rollouts verified at once over HTTP: none is lost, and each answer is its own request's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.interop.nemo_gym.client import Client, fenced, request

AT_ONCE = 64
TESTS = 3

KINDS = {
    "passed": "print(int(input()) + {number})",
    "wrong_answer": "print(int(input()) - {number} - 1)",
    "runtime_error": "raise ValueError('rollout {number}')",
    "compile_error": "print({number}",
}
CODES = {"passed": [True] * TESTS, "wrong_answer": [-2], "runtime_error": [-4], "compile_error": [-4]}


def rollout(number: int) -> tuple[str, str, dict[str, Any]]:
    """Its verdict, its program, and the request: a row of its own, whose tests add its own number."""
    verdict = list(KINDS)[number % len(KINDS)]
    code = KINDS[verdict].format(number=number)
    tests = {
        "inputs": [f"{n}\n" for n in range(TESTS)],
        "outputs": [f"{n + number}\n" for n in range(TESTS)],
    }
    return verdict, code, request(fenced(code), tests, difficulty=f"level {number}")


def test_none_is_lost_and_each_answer_is_its_own(server: Callable[..., str]) -> None:
    url = server()
    rollouts = [rollout(number) for number in range(AT_ONCE)]
    together = threading.Barrier(AT_ONCE)

    def ask(body: dict[str, Any]) -> Any:
        together.wait()
        return Client(url).post("/verify", body)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = list(threads.map(ask, [body for _, _, body in rollouts]))
    for number, ((verdict, code, body), (status, answer)) in enumerate(zip(rollouts, answers, strict=True)):
        assert (status, answer["verdict"], answer["mask_sample"]) == (200, verdict, False), answer["failure_reason"]
        assert (answer["reward"], answer["result"]) == (float(verdict == "passed"), CODES[verdict])
        assert (answer["extracted_model_code"], answer["difficulty"]) == (code, f"level {number}")
        assert answer["response"]["output"] == body["response"]["output"]
        if verdict == "wrong_answer":
            assert answer["metadata"]["output"].strip() == str(-number - 1)
        if verdict == "runtime_error":
            assert f"rollout {number}" in answer["error_message"]
