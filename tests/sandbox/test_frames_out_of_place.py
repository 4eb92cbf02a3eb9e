"""A completion whose answers are right, and that writes to the protocol channel: it never passes."""

from __future__ import annotations

import pytest

from evaluator.graders.bench import Bench, Isolation, Options
from evaluator.graders.tests import grade
from evaluator.model import Grade, Kind, Limits, Mode, Rollout, Task, TestCase, Verdict
from evaluator.sandbox import Sandbox
from tests.sandbox.conftest import PATIENT
from tests.sandbox.test_protocol import BAD, FRAME, honest_still_runs

HASTY = Limits(wall_s=0.3, cpu_s=30, total_s=60)
CAUGHT = (Verdict.REJECTED, Verdict.TIME_LIMIT)
"""Out of time where nothing more can be known: it waits for the rest of a frame."""

RIGHT_FRAMES = {
    "the answer": "frame(b'V', bytes(8) + b'1')",
    "the end": 'frame(b\'D\', b\'{"exit_status":0,"memory_kib":0,"clean":false}\')',
    "the end, and that it is clean": 'frame(b\'D\', b\'{"exit_status":0,"memory_kib":0,"clean":true}\')',
    "the farewell": "frame(b'G')",
    "half of an answer": "frame(b'V', bytes(8) + b'1')[:6]",
    "one byte": "b'x'",
}
FRAMES = BAD | RIGHT_FRAMES


def graded(
    sandbox: Sandbox,
    mode: Mode,
    code: str,
    limits: Limits = PATIENT,
    isolation: Isolation = "completion",
    cases: int = 3,
) -> Grade:
    tests = tuple(TestCase(index, "1", "1") for index in range(cases))
    task = Task(task_id="t", mode=mode, entry_point="f" if mode is Mode.CALL else None, cases=tests)
    rollout = Rollout(task_id="t", completion=code, kind=Kind.FULL)
    return grade(task, rollout, Bench(sandbox, Options(limits=limits, isolation=isolation)))


def caught(sandbox: Sandbox, result: Grade) -> None:
    assert result.verdict in CAUGHT, result.verdict
    assert result.reward == 0.0
    honest_still_runs(sandbox)


@pytest.mark.parametrize("cases", [1, 3])
@pytest.mark.parametrize("what", FRAMES)
def test_from_a_call(sandbox: Sandbox, what: str, cases: int) -> None:
    code = FRAME + f"def f(x):\n    os.write(3, {FRAMES[what]})\n    return x"
    caught(sandbox, graded(sandbox, Mode.CALL, code, HASTY, cases=cases))


@pytest.mark.parametrize("isolation", ["completion", "test"])
@pytest.mark.parametrize("cases", [1, 3])
@pytest.mark.parametrize("what", FRAMES)
def test_from_a_program(sandbox: Sandbox, what: str, cases: int, isolation: Isolation) -> None:
    code = FRAME + f"print(input(), flush=True)\nos.write(3, {FRAMES[what]})"
    result = graded(sandbox, Mode.STDIN, code, HASTY, isolation, cases)
    if result.verdict is Verdict.WRONG_ANSWER:  # its true end came in time to be the next answer, an empty one
        assert (cases, what) == (3, "the end, and that it is clean")
    else:
        caught(sandbox, result)


@pytest.mark.parametrize("what", FRAMES)
def test_while_a_call_is_loaded(sandbox: Sandbox, what: str) -> None:
    code = FRAME + f"os.write(3, {FRAMES[what]})\ndef f(x): return x"
    result = graded(sandbox, Mode.CALL, code, HASTY, cases=1)
    assert result.verdict in (*CAUGHT, Verdict.COMPILE_ERROR), "one can say of itself that it does not load"
    assert result.reward == 0.0
    honest_still_runs(sandbox)


SECOND_THREAD = "threading.Thread(target=lambda: (time.sleep(0.1), os.write(3, {})), daemon=True).start()"


@pytest.mark.parametrize("what", ["garbage", "the answer", "loaded", "the farewell"])
def test_from_a_thread_that_is_late(sandbox: Sandbox, what: str) -> None:
    """The frame comes after the first answer, while the second is waited for."""
    start = SECOND_THREAD.format(FRAMES[what])
    code = f"{FRAME}import threading, time\ncalls = []\ndef f(x):\n    calls.append(x)\n"
    code += f"    if len(calls) == 1: {start}\n    else: time.sleep(0.2)\n    return x"
    caught(sandbox, graded(sandbox, Mode.CALL, code, HASTY, cases=2))


@pytest.mark.parametrize("isolation", ["completion", "test"])
@pytest.mark.parametrize("what", ["garbage", "half a frame", "the end"])
def test_at_the_end_of_a_program(sandbox: Sandbox, what: str, isolation: Isolation) -> None:
    code = f"{FRAME}import atexit\natexit.register(lambda: os.write(3, {FRAMES[what]}))\nprint(input())"
    caught(sandbox, graded(sandbox, Mode.STDIN, code, HASTY, isolation))


AFTERWARDS = {
    "ends": "os._exit(0)",
    "is killed": "os.kill(os.getpid(), 9)",
    "closes the channel": "os.close(3); time.sleep(30)",
    "goes on": "\n    while True: pass",
    "goes on without a sound": "time.sleep(30)",
}


@pytest.mark.parametrize("what", AFTERWARDS)
def test_a_call_that_answers_in_the_graders_name(sandbox: Sandbox, what: str) -> None:
    """It has said the right thing, and never comes back to say it in the way that all do."""
    code = f"{FRAME}import time\ndef f(x):\n    os.write(3, {RIGHT_FRAMES['the answer']}); {AFTERWARDS[what]}"
    result = graded(sandbox, Mode.CALL, code.replace("; \n", "\n"), HASTY, cases=1)
    caught(sandbox, result)
    assert "its last answer" in str(result.error_message)


@pytest.mark.parametrize("told", ["false", "true"])
def test_a_program_that_hides_its_exit_status(sandbox: Sandbox, told: str) -> None:
    end = f'frame(b\'D\', b\'{{"exit_status":0,"memory_kib":0,"clean":{told}}}\')'
    code = f"{FRAME}import sys\nprint(input(), flush=True)\nos.write(3, {end})\nos._exit(7)"
    tests = (TestCase(0, "1", "1"), TestCase(1, "1", "1"))
    task = Task(task_id="t", mode=Mode.STDIN, exit_code="strict", cases=tests)
    rollout = Rollout(task_id="t", completion=code, kind=Kind.FULL)
    for isolation in ("completion", "test"):
        result = grade(task, rollout, Bench(sandbox, Options(limits=PATIENT, isolation=isolation)))  # type: ignore[arg-type]
        assert (result.verdict, result.reward) == (Verdict.RUNTIME_ERROR, 0.0), isolation
    honest_still_runs(sandbox)
