"""Tasks that run code and tasks that do not, in one run: who takes a sandbox, and how many are graded at once."""

import os
from pathlib import Path

import pytest

from evaluator.formats.reading.fields import id_from_prompt
from evaluator.model import Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.options import Options
from evaluator.workers import grade_stream
from evaluator.workers.grade_stream import grade_all
from tests.workers.processes import sandboxes, wait_until_none, workers

PATIENTLY = Limits(wall_s=300, cpu_s=60, total_s=300)
AT_ONCE = 9
MEETING = f"""
import threading

RUNS_CODE = False
WAITS = {AT_ONCE}
together = threading.Barrier({AT_ONCE}, timeout=240)


def met(task, rollout, bench):
    together.wait()
    return 1.0
"""


def answers(count: int) -> tuple[Task, list[Rollout]]:
    task = Task(task_id="answer", mode=Mode.ANSWER, answer="x")
    rollouts = [Rollout(task_id="answer", completion=f"{number}", sample_id=f"a{number}") for number in range(count)]
    return task, rollouts


def programs(count: int) -> tuple[Task, list[Rollout]]:
    task = Task(task_id="code", mode=Mode.STDIN, cases=(TestCase(0, "1", "1"),))
    rollouts = [
        Rollout(task_id="code", completion=f"print(1)  # {number}", sample_id=f"c{number}", kind=Kind.FULL)
        for number in range(count)
    ]
    return task, rollouts


def test_as_many_are_graded_at_once_as_wait_for_others(tmp_path: Path) -> None:
    (tmp_path / "meeting.py").write_text(MEETING)
    task, rollouts = answers(2 * AT_ONCE)
    options = Options(grader=f"{tmp_path}/meeting.py:met")
    rewards = [each.grade.reward for each in grade_all([task], rollouts, options)]
    assert rewards == [1.0] * (2 * AT_ONCE), "each waited until so many were under way"


def test_answers_start_no_sandbox() -> None:
    task, rollouts = answers(20)
    for each in grade_all([task], rollouts, Options(limits=PATIENTLY), workers=4):
        assert each.grade.reward == 0.0
        assert sandboxes() == []


def test_a_long_run_of_answers_is_graded_in_processes_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade_stream, "_FEW", 5)
    task, rollouts = answers(200)
    seen, rewards = set[int](), {}
    for each in grade_all([task], [*rollouts, Rollout(task_id="answer", completion="x", sample_id="right")], workers=1):
        rewards[each.rollout.sample_id] = each.grade.reward
        seen.update(workers())
        assert sandboxes() == []
    assert len(seen) == 1
    assert rewards == {f"a{n}": 0.0 for n in range(200)} | {"right": 1.0}


def test_a_function_of_the_users_stays_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grade_stream, "_FEW", 5)
    (tmp_path / "own.py").write_text(
        "import os\n\nRUNS_CODE = False\n\n\ndef here(*_):\n    return {'reward': 1, 'message': os.getpid()}\n"
    )
    task, rollouts = answers(40)
    graded = grade_all([task], rollouts, Options(grader=f"{tmp_path}/own.py:here"))
    assert {each.grade.error_message for each in graded} == {str(os.getpid())}


@pytest.mark.slow
def test_a_mixed_run_starts_as_many_sandboxes_as_workers() -> None:
    (answer, texts), (code, codes) = answers(30), programs(12)
    mixed = [rollout for pair in zip(texts, [*codes, *codes, *codes], strict=False) for rollout in pair]
    most, found = 0, {}
    for each in grade_all([answer, code], mixed, Options(limits=PATIENTLY), workers=1):
        found[each.rollout.sample_id] = each.grade.reward
        most = max(most, len(sandboxes()))
    assert most == 1
    assert found == {f"a{n}": 0.0 for n in range(30)} | {f"c{n}": 1.0 for n in range(12)}
    wait_until_none(sandboxes)


@pytest.mark.parametrize(
    "tasks", [[], [answers(0)[0]], pytest.param([answers(0)[0], programs(0)[0]], marks=pytest.mark.slow)]
)
def test_rollouts_without_a_task_are_reported_in_every_kind_of_run(tasks: list[Task]) -> None:
    lost = Rollout(task_id="none", completion="x", sample_id="lost")
    [graded] = grade_all(tasks, [lost], Options(limits=PATIENTLY), workers=1)
    assert (graded.grade.verdict, graded.grade.reward) == (Verdict.UNKNOWN, None)
    assert "task 'none' is not in the dataset" in str(graded.grade.error_message)
    lost.task_id = id_from_prompt("Write add.")
    [graded] = grade_all(tasks, [lost], Options(limits=PATIENTLY), workers=1)
    assert "not exactly one task of the dataset has its prompt" in str(graded.grade.error_message)
