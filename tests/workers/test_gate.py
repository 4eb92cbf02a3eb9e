"""The gate: many at once, or one alone, and nobody waits for ever."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evaluator.workers.locks import Gate
from tests.waiting import HANG_S, wait_until

ROOT = Path(__file__).resolve().parents[2]


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_S)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"


def test_who_is_alone_is_alone() -> None:
    gate = Gate()
    inside: set[int] = set()
    crowds: list[int] = []

    def work(number: int) -> None:
        for turn in range(50):
            with gate.shared():
                inside.add(number)
                if (turn + number) % 3 == 0:
                    inside.discard(number)
                    with gate.alone():
                        inside.add(number)
                        crowds.append(len(inside))
                inside.discard(number)

    run_all([threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)])
    assert set(crowds) == {1}
    assert len(crowds) == sum((turn + number) % 3 == 0 for number in range(8) for turn in range(50))


def test_an_error_inside_opens_the_gate_again() -> None:
    gate = Gate()
    for _ in range(3):
        with pytest.raises(KeyError), gate.shared(), gate.alone():
            raise KeyError
    run_all([threading.Thread(target=lambda: pass_alone(gate), daemon=True) for _ in range(3)])


def pass_alone(gate: Gate) -> None:
    with gate.shared(), gate.alone():
        pass


def is_waited_for(gate: Gate) -> bool:
    """Whether somebody waits for one of its locks."""
    waiting = [line for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(f":{os.fstat(gate.descriptor).st_ino} " in line for line in waiting)


ELSEWHERE = """
import sys
from evaluator.workers.locks import Gate
gate = Gate(int(sys.argv[1]))
with gate.shared():
    print("inside", flush=True)
    input()
"""


def test_who_is_alone_is_alone_among_processes_too() -> None:
    """Also once the other one has been killed inside."""
    gate = Gate()
    command = [sys.executable, "-c", ELSEWHERE, str(gate.descriptor)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(gate.descriptor,), cwd=ROOT
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        alone = threading.Thread(target=lambda: pass_alone(gate), daemon=True)
        alone.start()
        wait_until(lambda: is_waited_for(gate), "the other process is inside, and nobody waits")
        assert alone.is_alive()
        other.kill()
        alone.join(HANG_S)
        assert not alone.is_alive()
