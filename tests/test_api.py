"""`grade`, `agrade` and `grade_all` as the README shows them."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

import evaluator
from evaluator import Limits, Mode, Rollout, Task, TestCase, Verdict, agrade, grade, grade_all
from evaluator.interop.program_results import reward_options
from evaluator.model import Excerpt
from evaluator.runs.metrics import pass_at_k
from evaluator.sandbox import Settings, Way
from tests.waiting import HANG_S

PATIENT = Limits(wall_s=300, cpu_s=60, total_s=300)
ADD = Task.from_row(
    {"task_id": "add", "mode": "call", "in_outs": {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [3, 7]}}
)
ECHO = Task(task_id="echo", mode=Mode.STDIN, cases=(TestCase(0, "1\n", "1\n"),))


def test_a_right_and_a_wrong_completion() -> None:
    right = grade(ADD, "def add(a, b): return a + b")
    assert (right.verdict, right.reward, right.pass_rate, right.verified) == (Verdict.PASSED, 1.0, 1.0, True)
    assert (right.task_id, right.sample_id, right.checker, right.grader) == ("add", "add#0", "value", "tests")
    assert {"pidns", "netns", "mntns", "seccomp"} <= set(right.layers)
    wrong = grade(ADD, "def add(a, b): return a - b")
    assert (wrong.verdict, wrong.reward, wrong.first_failing_test) == (Verdict.WRONG_ANSWER, 0.0, 0)
    assert wrong.cases[0].difference is not None
    assert (wrong.cases[0].expected, wrong.cases[0].actual) == ("3", "-1")


def test_a_failure_points_at_the_line() -> None:
    found = grade(ADD, "def add(a, b):\n    c = a + b\n    return c / 0\n")
    assert (found.verdict, found.error_type, found.error_line) == (Verdict.RUNTIME_ERROR, "ZeroDivisionError", 3)


def test_limits_of_a_call() -> None:
    found = grade(ADD, "def add(a, b):\n    while True: pass", limits=Limits(wall_s=0.2, cpu_s=30))
    assert (found.verdict, found.limits.wall_s) == (Verdict.TIME_LIMIT, 0.2)
    assert found.error_message is not None
    assert "wall time" in found.error_message


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("def add(a, b): return bytearray(1 << 32)", Verdict.MEMORY_LIMIT),
        ("def add(a, b):\n    while True: print('x' * 10**6)", Verdict.OUTPUT_LIMIT),
        ("def add(a, b): return 'x' * (5 << 20)", Verdict.OUTPUT_LIMIT),
        ("import os\ndef add(a, b): os._exit(0)", Verdict.RUNTIME_ERROR),
        ("raise ValueError\ndef add(a, b): return a + b", Verdict.COMPILE_ERROR),
        ("import os\ndef add(a, b): os.write(3, b'forged')", Verdict.REJECTED),
    ],
)
def test_each_failure_has_its_verdict_and_says_why(code: str, verdict: Verdict) -> None:
    found = grade(ADD, code, limits=PATIENT, kind="full")
    assert (found.verdict, found.reward) == (verdict, 0.0)
    assert found.error_message or found.error_type


def test_a_checker_for_the_call() -> None:
    code = "print(input() + '.0')"
    assert grade(ECHO, code, checker="exact", kind="full").reward == 0.0
    assert grade(ECHO, "print(1)", checker="lines", kind="full").checker == "lines"


CALLS: dict[str, Callable[..., object]] = {
    "grade": lambda **named: grade(ECHO, "", **named),
    "agrade": lambda **named: asyncio.run(agrade(ECHO, "", **named)),
    "grade_all": lambda **named: grade_all([ECHO], [], **named),
    "a trainer": lambda **named: reward_options(None, **named),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_name_that_there_is_not_is_refused_with_the_near_ones(call: str) -> None:
    for named, near in ({"grader": "tets"}, "tests"), ({"checker": "flots:tolerance=1"}, "floats"):
        with pytest.raises(ValueError, match=rf"is unknown \(did you mean {near}\?\): "):
            CALLS[call](**named)


def test_a_name_in_the_task_is_no_error_of_the_caller() -> None:
    for own in {"checker": "no-such"}, {"grader": "no-such"}:
        unknown = grade(replace(ECHO, **own), "print(1)", kind="full")
        assert (unknown.verdict, unknown.reward) == (Verdict.UNKNOWN, None)


def test_a_row_stands_for_its_task() -> None:
    row = {"task_id": 11, "text": "Add.", "code": "def add(a, b): ...", "test_list": ["assert add(1, 2) == 3"]}
    right = "def add(a, b): return a + b"
    assert grade(row, right).passed
    assert asyncio.run(agrade(row, right)).passed
    for tasks, name in ([row], "11"), ({"mine": row}, "mine"):
        assert [each.passed for each in grade_all(tasks, [Rollout(task_id=name, completion=right)])] == [True]


def test_its_public_names_are_there_and_shown() -> None:
    assert dir(evaluator) == sorted([*evaluator.__all__, "__version__"])
    assert evaluator.pass_at_k is pass_at_k
    assert {getattr(evaluator, name) for name in evaluator.__all__}


def test_an_unknown_kind_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="poem"):
        grade(ADD, "x", kind="poem")


def test_from_many_threads() -> None:
    def one(number: int) -> float | None:
        return grade(ADD, f"def add(a, b): return a + b + {number % 2}", limits=PATIENT, kind="full").reward

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(24))) == [1.0, 0.0] * 12


def test_many_at_once_while_the_event_loop_goes_on() -> None:
    async def run() -> tuple[list[float | None], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        code = "def add(a, b): return a + b + {}"
        grades = await asyncio.gather(*(agrade(ADD, code.format(n % 2), limits=PATIENT) for n in range(4)))
        ticking.cancel()
        return [each.reward for each in grades], ticks

    rewards, ticks = asyncio.run(run())
    assert rewards == [1.0, 0.0] * 2
    assert ticks > 10


def test_a_negative_number_of_workers_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="workers is -1: give 1 or more"):
        grade_all([ADD], [], workers=-1)


def test_of_a_long_wrong_output_the_part_around_the_difference_is_kept() -> None:
    (case,) = grade(ECHO, "print('a' * 50_000 + 'b' * 50_000)", kind="full").cases
    assert case.actual == "a" * 50_000 + "b" * (64 * 1024 - 50_000)
    assert case.excerpt == Excerpt("character", (0, len(case.expected or "")), (0, 100_001))
    assert case.stdout_bytes == 100_001


def test_what_can_only_be_decided_in_its_own_process_keeps_its_reward_or_has_none() -> None:
    patching = "    time.sleep = lambda s: None\n    assert candidate() > 0\n"
    task = Task(
        task_id="t",
        mode=Mode.ASSERT,
        entry_point="f",
        prompt="def f():\n",
        test=f"import time\ndef check(candidate):\n{patching}",
    )
    code = "import os\ndef f():\n    return os.getpid()\n"
    kept = grade(task, code, kind="full")
    assert (kept.verdict, kept.reward, kept.verified) == (Verdict.PASSED, 1.0, False)
    assert kept.unverified_reason
    left = grade(task, code, kind="full", unverified="unknown")
    assert (left.verdict, left.reward, left.verified) == (Verdict.UNKNOWN, None, False)
    assert left.error_message == f"not verified: {kept.unverified_reason}"
    awaited = asyncio.run(agrade(task, code, kind="full", unverified="unknown"))
    assert awaited.verdict is Verdict.UNKNOWN
    assert grade(ADD, "def add(a, b): return a + b", unverified="unknown").reward == 1.0


FORKED = """
import os, sys
from evaluator import Task, grade
task = Task.from_row({"task_id": "t", "in_outs": {"fn_name": "f", "inputs": [[1]], "outputs": [1]}})
assert grade(task, "def f(x): return x").reward == 1.0
child = os.fork()
if child == 0:
    os._exit(0 if grade(task, "def f(x): return x").reward == 1.0 else 1)
assert os.waitpid(child, 0)[1] == 0
assert grade(task, "def f(x): return x").reward == 1.0
print("both")
"""


@pytest.mark.slow
def test_a_forked_child_may_grade_too() -> None:
    ended = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=HANG_S, check=False)
    assert ended.stdout == "both\n", ended.stderr


ENDING = """
import threading
from evaluator import Limits, Task, grade
task = Task.from_row({"task_id": "t", "in_outs": {"fn_name": "f", "inputs": [[1]], "outputs": [1]}})
slow = "import time\\ndef f(x): time.sleep(1000)"
limits = Limits(wall_s=900, total_s=900)
threading.Thread(target=grade, args=(task, slow), kwargs={"limits": limits}, daemon=True).start()
assert grade(task, "def f(x): return x").reward == 1.0
print("end", flush=True)
"""


@pytest.mark.slow
def test_a_program_that_ends_while_a_completion_runs_ends_at_once() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=HANG_S, check=False)
    assert (ended.stdout, ended.returncode) == ("end\n", 0), ended.stderr


@pytest.mark.slow
def test_what_the_sandbox_is_asked_for_reaches_it() -> None:
    def told(sandbox: Settings | None) -> tuple[str, ...]:
        right = "def add(a, b): return a + b"
        layers = grade(ADD, right, sandbox=sandbox).layers
        rollout = Rollout(task_id="add", sample_id="s", completion=right)
        assert [each.layers for each in grade_all([ADD], [rollout], sandbox=sandbox)] == [layers]
        return layers

    assert "degraded" not in told(None)
    assert "degraded" in told(Settings(strictness="degraded"))
    assert "userns" not in told(Settings(way=Way.LANDLOCK))
