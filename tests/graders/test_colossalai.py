"""ColossalAI's reward: 10 or 0, the fence, the length."""

from collections.abc import Callable

import pytest

from evaluator import Grade, Rollout, Task, Verdict, load_task
from evaluator.graders import GraderError, get_grader
from evaluator.options import Options
from evaluator.sandbox import Sandbox
from evaluator.workers.worker import Worker

ADD = {
    "task_id": "add", "mode": "call", "in_outs": {"fn_name": "add", "inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"]}
}  # fmt: skip
TASK = Task.from_row(ADD)
FENCED = "Here it is:\n\n```python\ndef add(a, b):\n    return a + b\n```\nDone."
LENGTHS = "colossalai:max_new_tokens=100,overlong_tokens=20"


@pytest.fixture
def graded(sandbox: Sandbox) -> Callable[..., Grade]:
    """`graded(completion, grader=..., task=..., **row)`: its grade, by one sandbox for all."""

    def grade(completion: str, grader: str = "colossalai", task: Task = TASK, **row: object) -> Grade:
        rollout = Rollout(task_id=task.task_id, completion=completion, metadata=row)
        return Worker(Options(grader=grader), sandbox=sandbox).grade(task, rollout)

    return grade


@pytest.mark.parametrize(
    ("completion", "reward", "verdict"),
    [
        (FENCED, 10.0, Verdict.PASSED),
        ("```python\nno\n```\n" + FENCED, 10.0, Verdict.PASSED),
        ("def add(a, b): return a + b", 0.0, Verdict.PASSED),
        ("```python\ndef add(a, b): return 3\n```", 0.0, Verdict.WRONG_ANSWER),
        ("```python\ndef add(a, b): return a /\n```", 0.0, Verdict.COMPILE_ERROR),
        ("", 0.0, Verdict.COMPILE_ERROR),
    ],
)
def test_ten_for_fenced_code_that_passes_all_tests(
    graded: Callable[..., Grade], completion: str, reward: float, verdict: Verdict
) -> None:
    one = graded(completion, task=Task.from_row(ADD | {"limits": {"wall_s": 30}}))
    assert (one.reward, one.verdict, one.grader, one.checker) == (reward, verdict, "colossalai", "colossalai")
    assert one.tests_total == 2


def test_nothing_after_the_first_failure_is_run_and_the_parts_are_shown(graded: Callable[..., Grade]) -> None:
    one = graded("```python\ndef add(a, b): return 3 * (a - 2)\n```")
    assert [case.verdict for case in one.cases] == [Verdict.WRONG_ANSWER, Verdict.NOT_RUN]
    assert one.error_message == "expected '3', got '-3'"
    parts = {part.name: part.reward for part in one.components}
    assert parts == {"answer": 0.0, "format": 1.0, "length": 0.0}


def test_long_responses_lose(graded: Callable[..., Grade]) -> None:
    for length, reward in ((80, 10.0), (90, 5.0), (99, 0.5), (100, 0.0), (500, 0.0)):
        one = graded(FENCED, LENGTHS, response_length=length)
        assert one.reward == pytest.approx(reward)
        lost = {part.name: part.reward for part in one.components}["length"]
        assert lost == pytest.approx(0.0 if length >= 100 else reward - 10)
    unfenced = graded("def add(a, b): return a + b", LENGTHS, response_length=90)
    assert unfenced.reward == pytest.approx(-5.0), "right code without a fence loses by its length alone"
    unsaid = graded(FENCED, LENGTHS)
    assert (unsaid.verdict, unsaid.reward) == (Verdict.UNKNOWN, None)
    assert unsaid.error_message == "the length penalty needs response_length, in tokens, in the rollout's row"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"in_outs": {"fn_name": "add", "inputs": [], "outputs": []}}, "the task has no test cases"),
        ({"test": "def check(f):\n    assert f(1)"}, "a task of mode assert has none"),
        ({"in_outs": {"fn_name": "add", "inputs": ["x"], "outputs": ["1"]}}, r"in_outs: inputs[0], line 1 is not JSON"),
    ],
)
def test_a_task_that_can_not_be_graded_is_unknown(
    graded: Callable[..., Grade], row: dict[str, object], reason: str
) -> None:
    one = graded(FENCED, task=load_task({"task_id": "add", "entry_point": "add", **row}, "native"))
    assert (one.verdict, one.reward) == (Verdict.UNKNOWN, None)
    assert one.error_message is not None
    assert reason in one.error_message


def test_programs_that_read_stdin_are_run_as_colossalai_runs_them(graded: Callable[..., Grade]) -> None:
    task = Task.from_row({"task_id": "square", "in_outs": {"inputs": ["5"], "outputs": ["25"]}})
    right = "```python\nif __name__ == '__main__':\n    print(floor(int(input()) ** 2))\n```"
    assert graded(right, task=task).reward == 10.0
    cheap = "```python\nprint(-1000005)\n```"
    task = Task.from_row({"task_id": "near", "in_outs": {"inputs": [""], "outputs": ["-1000000"]}})
    assert graded(cheap, task=task).reward == 0.0
    assert graded(cheap, "colossalai:strict=true", task=task).reward == 10.0


def test_lengths_that_make_no_sense_are_refused() -> None:
    with pytest.raises(GraderError, match="overlong_tokens must be 0 or more, and less than max_new_tokens"):
        get_grader("colossalai:max_new_tokens=10,overlong_tokens=10")
