"""A server's sandboxes are those of this user's other processes too, which then start none."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evaluator import Limits, Task, agrade, grade
from evaluator.engines import borrowed_hand, warm
from evaluator.engines.borrowed_hand import BorrowedHand
from evaluator.engines.lender_socket import lender_socket
from evaluator.engines.messages import FromHand, Job, Ready, Setup, Withdraw, Withdrawn, Work, shipped
from evaluator.engines.room import MACHINE_WIDE
from evaluator.engines.workers import WORKERS
from evaluator.model import Kind, Mode, Rollout, Verdict
from evaluator.options import Options
from evaluator.sandbox import Settings, Way
from tests.engines.processes import runs_code, workers, zygotes_below
from tests.interop.serving import ROOT, Served
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.slow

ECHO = {"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}}
TASK = Task.from_row(ECHO)
WORK = "import time\nwhile time.process_time() < 1.5: pass\nprint(input())"
ENDLESS_CALL = f"""
from evaluator import Limits, Task, grade
grade(Task.from_row({ECHO!r}), "while True: pass", limits=Limits(wall_s=900, cpu_s=900, total_s=900), kind="full")
"""


@pytest.fixture(autouse=True)
def _nothing_borrowed_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    warm.close()
    monkeypatch.setattr(borrowed_hand, "_not_before", 0.0)
    yield
    warm.close()


def lender(**variables: str) -> Served:
    """A server that keeps its grades where this process does."""
    served = Served(system="sandbox-fusion", XDG_CACHE_HOME=os.environ["XDG_CACHE_HOME"], **variables)
    assert served.url.startswith("http"), served.end()
    return served


@pytest.fixture
def server() -> Iterator[Served]:
    served = lender()
    yield served
    served.end()


def graded(code: str = "print(input())") -> Verdict:
    return grade(TASK, code, limits=Limits(wall_s=240, total_s=240), kind=Kind.FULL).verdict


def test_the_server_grades_and_no_process_is_started(server: Served) -> None:
    assert graded() is Verdict.PASSED
    assert graded("print(8)") is Verdict.WRONG_ANSWER
    assert workers() == []
    assert workers(server.process.pid)


def test_what_a_killed_server_was_doing_is_done_here(server: Served) -> None:
    with ThreadPoolExecutor(1) as threads:
        grading = threads.submit(graded, WORK)
        wait_until(lambda: is_running_code(server), "no completion runs")
        server.process.kill()
        assert grading.result(HANG_S) is Verdict.PASSED
    assert workers()


def test_the_next_server_takes_over_from_a_killed_one(server: Served) -> None:
    server.end(signal.SIGKILL)
    following = lender()
    assert graded() is Verdict.PASSED
    assert workers() == []
    assert following.end() == (0, "")
    warm.close()
    assert graded() is Verdict.PASSED
    assert workers()


def test_what_a_killed_process_wanted_is_ended() -> None:
    server = lender(**{WORKERS: "1"})
    with subprocess.Popen([sys.executable, "-c", ENDLESS_CALL], cwd=ROOT) as client:
        wait_until(lambda: is_running_code(server), "no completion runs")
        client.kill()
    grading = asyncio.wait_for(agrade(TASK, "print(input())", limits=Limits(wall_s=240), kind=Kind.FULL), HANG_S)
    assert asyncio.run(grading).verdict is Verdict.PASSED
    assert workers() == []
    server.end()


def test_a_grader_of_ones_own_runs_in_ones_own_processes(server: Served, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def judged(task, rollout, bench): return 0.25\n")
    assert grade(TASK, "print(input())", grader=f"{tmp_path}/own.py:judged", kind=Kind.FULL).reward == 0.25
    assert workers(server.process.pid) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [(MACHINE_WIDE, "no"), ("XDG_CACHE_HOME", f"{os.environ.get('XDG_CACHE_HOME')}/elsewhere")],
    ids=["alone", "elsewhere"],  # a folder of this process in a name: no two workers would have the same tests
)
def test_a_process_that_is_to_work_alone_or_keeps_its_grades_elsewhere_borrows_nothing(
    server: Served, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert graded() is Verdict.PASSED
    assert workers()
    assert workers(server.process.pid) == []


def test_what_is_not_begun_can_be_taken_back(server: Served) -> None:
    """Otherwise whoever has nothing to do asks for it again and again, as fast as the machine can."""
    options = Options(limits=Limits(wall_s=900, cpu_s=900, total_s=900))
    jobs = [Job(n, 0, Rollout(task_id="echo", completion=f"while True: pass  # {n}", kind=Kind.FULL)) for n in range(3)]
    hand = BorrowedHand(path())
    hand.send(Setup(options.sandbox))
    hand.send(Work(jobs, [shipped(0, TASK, options)]))
    hand.send(Withdraw([0, 1, 2]))
    heard: list[FromHand] = []
    wait_until(
        lambda: bool(heard.extend(hand.receive()) or any(isinstance(each, Withdrawn) for each in heard)), "no answer"
    )
    assert heard == [Ready(), Withdrawn([1, 2])]
    hand.close()


@pytest.mark.parametrize("way", list(Way))
@pytest.mark.parametrize("test", ["", "import socket\n"], ids=["no network", "loopback"])
def test_no_completion_reaches_the_server(server: Served, way: Way, test: str) -> None:
    """Whoever reaches its socket is believed, so that must be none of those who are graded."""
    code = (
        f"import socket\ndef f():\n    made = socket.socket(socket.AF_UNIX)\n    made.connect({os.fspath(path())!r})\n"
    )
    code += "    return made.recv(9)"
    test += "def check(candidate):\n    assert candidate() == b'rollscope'"
    outside = subprocess.run([sys.executable, "-c", f"{code}\n{test}\ncheck(f)"], check=False)
    assert outside.returncode == 0
    task = Task(task_id="reach", mode=Mode.ASSERT, test=test, entry_point="f")
    found = grade(task, code, sandbox=Settings(way=way), kind=Kind.FULL)
    assert found.reward == 0.0, found
    assert workers() == []


def path() -> Path:
    found = lender_socket()
    assert found is not None
    return found


def is_running_code(server: Served) -> bool:
    return any(runs_code(zygote) for worker in workers(server.process.pid) for zygote in zygotes_below(worker))
