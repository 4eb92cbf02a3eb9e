"""The gate: many at once, or one alone, and nobody waits for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evaluator.engines.gate import Gate

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 20


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
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


def test_several_pass_at_once() -> None:
    gate = Gate()
    together = threading.Barrier(4)

    def work() -> None:
        with gate.shared():
            together.wait(PATIENCE_S)

    run_all([threading.Thread(target=work, daemon=True) for _ in range(4)])
    assert not together.broken


def test_an_error_inside_opens_the_gate_again() -> None:
    gate = Gate()
    for _ in range(3):
        with pytest.raises(KeyError), gate.shared(), gate.alone():
            raise KeyError
    run_all([threading.Thread(target=lambda: pass_alone(gate), daemon=True) for _ in range(3)])


def pass_alone(gate: Gate) -> None:
    with gate.shared(), gate.alone():
        pass


class _InterruptedError(Exception):
    pass


def _interrupt(*_: object) -> None:
    raise _InterruptedError


def test_an_interrupt_while_waiting_to_be_alone_opens_the_gate_again() -> None:
    """Ctrl-C in a notebook may come while `grade` waits."""
    gate = Gate()
    leave, entered = threading.Event(), threading.Event()

    def stay() -> None:
        with gate.shared():
            entered.set()
            leave.wait(PATIENCE_S)

    other = threading.Thread(target=stay, daemon=True)
    other.start()
    entered.wait(PATIENCE_S)
    before = signal.signal(signal.SIGALRM, _interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(_InterruptedError), gate.shared(), gate.alone():
            pytest.fail("it is not alone")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    leave.set()
    other.join(PATIENCE_S)
    run_all([threading.Thread(target=pass_alone, args=(gate,), daemon=True) for _ in range(3)])


ELSEWHERE = """
import sys
from evaluator.engines.gate import Gate
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
        alone.join(0.5)
        assert alone.is_alive(), "the other process is inside"
        other.kill()
        alone.join(PATIENCE_S)
        assert not alone.is_alive()
