"""Grading on a Ray cluster: two machines, which are this one twice, with a CPU each."""

import itertools
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evaluator import EngineError, grade_all, version
from evaluator.model import Grade, Kind, Limits, Mode, Rollout, Task, TestCase
from tests.commands.command_line import COMMAND, ROOT, environment, one_line, sample, write_rows
from tests.waiting import wait_until
from tests.workers.processes import sandboxes, set_apart, wait_until_none

ray = pytest.importorskip("ray", reason="Ray has no wheel for this Python: pip install 'rollscope[ray]'")
MEASURED = ("wall_s", "cpu_s", "memory_mb", "stdout_bytes", "duplicate_of")
"""`stdout_bytes` for what was cut at its limit; of two equal rollouts each may be the first."""
pytestmark = pytest.mark.slow
STARTS_S = 600.0
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_metrics_collection": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}  # fmt: skip
LIGHT = {"num_cpus": 1, "object_store_memory": 80 << 20}
MOST = 30_000
"""Rollouts until a machine is left out."""
LIMITS = Limits(cpu_s=2, wall_s=300, total_s=300, memory_mb=256)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and another machine. Its folder has a short name, for its sockets."""
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    with pytest.MonkeyPatch.context() as patch:
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        for name, value in {**QUIET, "RAY_TMPDIR": folder, "PYTHONPATH": paths}.items():
            patch.setenv(name, value)
        made = Cluster(initialize_head=True, head_node_args={**LIGHT, "include_dashboard": False})
        try:
            made.add_node(**LIGHT)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def echo(name: str = "echo") -> Task:
    return Task(task_id=name, mode=Mode.STDIN, cases=tuple(TestCase(n, f"{n}", f"{n}") for n in range(2)))


TASKS = [
    echo(),
    Task(task_id="add", mode=Mode.CALL, entry_point="add", cases=(TestCase(0, "1\n2", "3"), TestCase(1, "2\n2", "4"))),
    Task(task_id="untested", mode=Mode.STDIN),
    Task(task_id="answer", mode=Mode.ANSWER, answer="42"),
]
PROGRAMS = {
    "echo": [
        "print(input())", "print(int(input()) + 1)", "raise ValueError('no')", "while True: pass",
        "print('x' * 9_000_000)", "x = bytearray(900_000_000)\nprint(input())", "def broken(:", "",
        "# \N{SNOWMAN}\nprint(input())", "print(1) # \ud800",
    ],
    "add": ["def add(a, b): return a + b", "def add(a, b): return a - b", "def add(a): return a", "x = 1"],
    "untested": ["print(1)"],
    "answer": ["42", "41"],
    "nobody's": ["print(1)"],
}  # fmt: skip


def rollouts_of_all_kinds() -> list[Rollout]:
    """Each program twice."""
    codes = [(task, code) for task, programs in PROGRAMS.items() for code in programs] * 2
    return [
        Rollout(task_id=task, completion=code, sample_id=str(n), kind=Kind.FULL) for n, (task, code) in enumerate(codes)
    ]


def told(grades: Iterator[Grade]) -> dict[str, Any]:
    """By sample, all that was not measured."""
    found: dict[str, Any] = {each.sample_id: msgspec.to_builtins(each) for each in grades}
    for grade in found.values():
        for part in (grade, *grade["cases"]):
            part["error_message"] = re.sub(r"^[\d.]+ (?=s of CPU|MiB res)", "", part["error_message"] or "")
            for name in MEASURED:
                part.pop(name, None)
    return found


def simple(number: int, code: str = "print(input())") -> Rollout:
    return Rollout(task_id="echo", completion=f"{code}  # {number}", sample_id=str(number), kind=Kind.FULL)


def graded_until_left_out(cluster: Any, caplog: pytest.LogCaptureFixture, code: str) -> Iterator[int]:
    """Grades rollouts until a machine is left out, and gives a number with each. Each has to be graded once, with a
    reward of 1."""

    def rollouts() -> Iterator[Rollout]:
        while not left_out(caplog):
            assert len(given) < MOST, "no machine was left out"
            given.append(simple(len(given), code))
            yield given[-1]

    given: list[Rollout] = []
    found: Counter[tuple[str, float | None]] = Counter()
    with caplog.at_level(logging.WARNING):
        grades = grade_all([echo()], rollouts(), limits=LIMITS, cache=None, engine="ray", address=cluster.address)
        for number, each in enumerate(grades):
            found[each.sample_id, each.reward] += 1
            yield number
    assert found == Counter((each.sample_id, 1.0) for each in given)


def left_out(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the log says of machines without which the grading goes on. One whose CPU is still taken never began."""
    lines = [record.getMessage() for record in caplog.records]
    return [line for line in lines if " is left out: " in line and not line.endswith("none of its CPUs is free")]


def test_grades_are_those_of_this_machine(cluster: Any) -> None:
    rollouts = rollouts_of_all_kinds()
    found = told(grade_all(TASKS, rollouts, limits=LIMITS, cache=None, engine="ray", address=cluster.address))
    assert found == told(grade_all(TASKS, rollouts, limits=LIMITS, cache=None))
    assert len({each["verdict"] for each in found.values()}) >= 9


WHERE = """
import os
from pathlib import Path

def judge(task, rollout, bench):
    return {"reward": 1.0, "message": str(os.getppid())}
"""


def test_each_machine_grades_and_a_grader_of_ones_own_comes_from_its_file(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "where.py").write_text(WHERE)
    actors: set[int] = set()
    endless = (Rollout(task_id="echo", completion=str(n)) for n in itertools.count())
    grades = grade_all([echo()], endless, grader=f"{tmp_path}/where.py:judge", engine="ray", address=cluster.address)
    for each in grades:
        assert each.reward == 1.0
        actors.add(int(str(each.error_message)))
        if len(actors) == 2:
            break
    grades.close()  # type: ignore[attr-defined]
    wait_until_none(lambda: [actor for actor in actors if Path(f"/proc/{actor}").exists()])


SINGLE = """
import asyncio, sys
from evaluator import Task, agrade, grade

task = Task.from_row({"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}})
there = {"engine": "ray", "address": sys.argv[1]}


async def rewards():
    codes = ["print(7)", "print(8)"] * 20
    found = []
    for _ in range(2):  # machines
        endless = asyncio.create_task(agrade(task, "while True: pass", **there))
        found += await asyncio.gather(*(agrade(task, code, **there) for code in codes))
        endless.cancel()
    return [each.reward for each in found]


print(asyncio.run(rewards()) == [1.0, 0.0] * 40, grade(task, "print(input())", **there).verdict)
"""


def test_single_calls_are_graded_there_too(cluster: Any) -> None:
    """And nothing is left of them, nor said, when the process ends."""
    set_apart()
    command = [sys.executable, "-c", SINGLE, cluster.address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=STARTS_S, env=environment())
    assert (done.stdout.splitlines(), done.stderr) == (["True passed"], "")
    wait_until_none(sandboxes)


ODD = """
import sys
if "-c" in sys.orig_argv:
    import tempfile
    tempfile.tempdir = "/missing"
"""


def test_a_machine_without_a_sandbox_is_left_out(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sitecustomize.py").write_text(ODD)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    odd = cluster.add_node(**LIGHT, resources={"odd": 1})
    try:
        for _ in graded_until_left_out(cluster, caplog, "print(input())"):
            pass
        [line] = left_out(caplog)
        assert " is left out: no sandbox: " in line
    finally:
        cluster.remove_node(odd)


def test_an_address_where_nobody_is_and_no_free_cpu_are_a_line_each(tmp_path: Path) -> None:
    write_rows(tmp_path / "d.jsonl", {"task_id": "t", "in_outs": {"inputs": ["7"], "outputs": ["7"]}})
    write_rows(tmp_path / "r.jsonl", sample("s", "print(7)", "t"))
    for address, hint in (("127.0.0.1:1", "Connection refused"), ("nonsense", "HOST:PORT"), ("ray://x:1", "HOST:PORT")):
        words = ["grade", "r.jsonl", "--dataset", "d.jsonl", "--engine", "ray", "--address", address, "--output", "run"]
        done = subprocess.run(
            [*COMMAND, *words], cwd=tmp_path, env=environment(PYTHONWARNINGS="default"), capture_output=True, text=True,
            timeout=STARTS_S, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        line = one_line(done.stderr)
        assert line.startswith(f"rollscope: Ray at {address}: ")
        assert hint in line
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_nothing_is_left_of_a_command_that_is_stopped(
    cluster: Any, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    write_rows(tmp_path / "d.jsonl", {"task_id": "t", "in_outs": {"inputs": ["7"] * 2, "outputs": ["7"] * 2}})
    write_rows(tmp_path / "r.jsonl", *(sample(str(n), f"import time; time.sleep(9)  # {n}", "t") for n in range(50)))
    words = [*"grade r.jsonl --dataset d.jsonl --output run --engine ray --address".split(), cluster.address]
    set_apart()
    with subprocess.Popen([*COMMAND, *words], cwd=tmp_path, env=environment(PYTHONWARNINGS="default")) as command:
        wait_until(lambda: len(sandboxes()) >= 2, "a sandbox of each machine")
        command.send_signal(number)
        assert command.wait(STARTS_S) == status
    wait_until_none(sandboxes)
    if not ray.is_initialized():
        ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    wait_until(lambda: ray.available_resources().get("CPU") == 2, "the CPUs of both machines")  # for the next test


def test_machines_of_another_version_are_left_out_and_without_any_other_nothing_is_graded(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(version, "VERSION", "0.0.0")
    with caplog.at_level(logging.WARNING), pytest.raises(EngineError) as told:
        list(grade_all([echo()], [simple(n) for n in range(3)], engine="ray", address=cluster.address))
    assert "and the driver has 0.0.0; install the same on every machine" in str(told.value)
    assert len([record for record in caplog.records if " is left out: " in record.getMessage()]) == 2


def test_what_a_lost_machine_had_is_graded_by_the_others(cluster: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The last test here: Ray takes the machine for alive some seconds longer."""
    lost = cluster.add_node(**LIGHT)
    for number in graded_until_left_out(cluster, caplog, "import time; time.sleep(0.1); print(input())"):
        if number == 20:
            cluster.remove_node(lost, allow_graceful=False)
    [line] = left_out(caplog)
    assert line.startswith(cluster.head_node.node_ip_address)
