"""A right and a wrong completion for each grader, for `make quick`. A new grader needs a line in `EXAMPLES`."""

import json

import pytest

from evaluator.graders import known_graders
from evaluator.model import JsonValue, Rollout, Task
from evaluator.options import Options
from evaluator.sandbox import Sandbox
from evaluator.workers.worker import Worker
from tests.graders.judge_server import JudgeServer, says, spec

ADD: dict[str, JsonValue] = {
    "task_id": "t", "mode": "call", "in_outs": {"fn_name": "add", "inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"]}
}  # fmt: skip
SUITE: dict[str, JsonValue] = {
    "task_id": "t", "entry_point": "add",
    "test": "import math\ndef check(add):\n    assert add(1, 2) == math.isqrt(9)\n",
}  # fmt: skip
ASKED: dict[str, JsonValue] = {"task_id": "t", "prompt": "Which?", "answer": "Paris"}
SHAPE: dict[str, JsonValue] = {"task_id": "t", "prompt": "Who?", "answer": {"required": ["name"]}}
PARTS: JsonValue = {"name": "weighted", "graders": [{"grader": "exact_match", "weight": 2}]}
SUM, DIFFERENCE = (f"```python\ndef add(a, b):\n    return a {sign} b\n```" for sign in "+-")

EXAMPLES: dict[str, tuple[dict[str, JsonValue], JsonValue, str, str, float]] = {
    "audit": (ADD, {"name": "audit", "checkers": ["value"]}, SUM, DIFFERENCE, 1.0),
    "both_ways": (SUITE, "both_ways", SUM, DIFFERENCE, 1.0),
    "colossalai": (ADD, "colossalai", SUM, DIFFERENCE, 10.0),
    "exact_match": (ASKED, "exact_match", "Paris", "Rome", 1.0),
    "structured": (SHAPE, "structured:reward=all", '{"name": "Ann"}', "{}", 1.0),
    "tests": (ADD, "tests", SUM, DIFFERENCE, 1.0),
    "weighted": (ASKED, PARTS, "Paris", "Rome", 2.0),
}
"""A task's row, the grader, a right completion, a wrong one, and the reward of the right one."""


def graded(row: dict[str, JsonValue], grader: JsonValue, sandbox: Sandbox, completion: str, **more: float) -> object:
    rollout = Rollout(task_id="t", sample_id="t#0", completion=completion, **more)
    text = grader if isinstance(grader, str) else json.dumps(grader)
    return Worker(Options(grader=text), sandbox=sandbox).grade(Task.from_row(row), rollout).reward


@pytest.mark.parametrize("name", sorted(known_graders().keys() - {"similarity", "stored"}))
def test_a_right_completion_earns_its_reward_and_a_wrong_one_none(name: str, sandbox: Sandbox) -> None:
    assert name in EXAMPLES, "add a task of this grader, with a right and a wrong completion, to EXAMPLES"
    row, grader, right, wrong, reward = EXAMPLES[name]
    assert graded(row, grader, sandbox, right) == reward
    assert graded(row, grader, sandbox, wrong) == 0.0


def test_a_judge_and_a_stored_reward(judge: JudgeServer) -> None:
    judge.answers = [says("Score: 7")]
    assert graded(ASKED, spec(judge), Sandbox(), "Paris") == 0.7
    assert graded(ASKED, "stored", Sandbox(), "Paris", given_reward=0.25) == 0.25
