"""A worker process that grades nothing: for any rollout it answers at once that ten test cases passed.

What it sends is as large as what a real worker sends, so it shows what the caller can feed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from evaluator.model import CaseResult, Grade, Kind, Rollout, Verdict
from evaluator.runs.schema import columns_of
from evaluator.sandbox import Settings, Way
from evaluator.workers.messages import Done, Frames, Ready, Setup, ToWorker, Work, framed, packed
from evaluator.workers.process_client import ProcessClient

_LAYERS = ("userns", "pidns", "mntns", "netns", "ipcns", "rlimits", "seccomp", "landlock")


MEETING = "BENCHMARK_MEETING"
"""The environment variable with the folder where the workers wait for one another, and how many they are."""


class InstantWorker(ProcessClient):
    """The caller's end of it."""

    @staticmethod
    def _started(descriptor: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, __file__, str(descriptor)], pass_fds=(descriptor,))


def _meet() -> None:
    """Returns when all workers have started, which takes so many of them longer than all that is measured."""
    folder, count = os.environ[MEETING].rsplit(":", 1)
    Path(folder, str(os.getpid())).touch()
    while len([*Path(folder).iterdir()]) < int(count):
        time.sleep(0.05)


def _grade(rollout: Rollout) -> Grade:
    cases = tuple(
        CaseResult(
            index=number, verdict=Verdict.PASSED, expected=f"{number}\n", actual=f"{number}\n", wall_s=0.001,
            cpu_s=0.001, memory_mb=11.5, stdout=f"{number}\n", stdout_bytes=2, exit_code=0,
        )
        for number in range(10)
    )  # fmt: skip
    return Grade(
        task_id=rollout.task_id, sample_id=rollout.sample_id, verdict=Verdict.PASSED, reward=1.0, pass_rate=1.0,
        cases=cases, checker="floats", layers=_LAYERS, code=rollout.completion, kind=Kind.FULL,
    )  # fmt: skip


def main(descriptor: int) -> None:
    import socket

    connection = socket.socket(fileno=descriptor)
    frames = Frames[ToWorker](ToWorker)
    code = "\n".join(f"line_{number} = int(input())" for number in range(30))
    rollout = Rollout(task_id="t", completion=code, sample_id="t#1", group="t", model="m")

    @cache
    def answer(count: int) -> Done:
        grades = [_grade(rollout)] * count
        columns = columns_of([rollout] * count, grades)
        return Done([], packed(grades), {"passed": count}, 0, 0.001, columns)

    while data := connection.recv(1 << 20):
        for message in frames.feed(data):
            if isinstance(message, Setup):
                _meet()
                connection.sendall(framed(Ready((Settings(way=Way.NAMESPACES), ()))))
            elif isinstance(message, Work):
                done = answer(len(message.jobs))
                done.numbers = [job.number for job in message.jobs]
                connection.sendall(framed(done))


if __name__ == "__main__":
    with contextlib.suppress(OSError):  # the caller has ended
        main(int(sys.argv[1]))
