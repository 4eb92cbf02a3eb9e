"""Reward processes that share a machine: no more completions at once than it has room for, and each is paid."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest

from evaluator import EngineError, Grade, Task, configure, grade
from evaluator.workers import pool
from evaluator.workers.locks import MACHINE_WIDE, Slot
from evaluator.workers.worker_count import WORKERS
from tests.waiting import wait_until
from tests.workers.processes import set_apart, workers

ROOT = Path(__file__).parents[2]
ECHO = {"task_id": "echo", "in_outs": {"inputs": ["7"], "outputs": ["7"]}}


@pytest.fixture
def _as_set_by_itself(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test sets ends with it."""
    for name in (WORKERS, MACHINE_WIDE):
        monkeypatch.setenv(name, "")  # so that it is as before afterwards
    yield
    pool.close()


def test_a_second_process_waits_until_there_is_room(tmp_path: Path) -> None:
    slots = [Slot(count=1, folder=tmp_path / "shared") for _ in range(2)]
    slots[0].take()
    assert slots[1].is_full()
    entered = Event()
    waiter = Thread(target=lambda: (slots[1].take(), entered.set()))
    waiter.start()
    wait_until(lambda: slots[1].waiting, "the other does not wait")
    assert not entered.is_set()
    slots[0].give()
    waiter.join()
    assert entered.is_set()
    assert slots[0].is_full()
    slots[1].give()
    assert not slots[0].is_full()


def test_who_has_a_place_for_long_gives_it_to_who_waits(tmp_path: Path) -> None:
    busy, other = (Slot(count=1, folder=tmp_path / "shared") for _ in range(2))
    busy.take()
    waiter = Thread(target=other.take)
    waiter.start()
    wait_until(lambda: other.waiting, "the other does not wait")
    taker = Thread(target=lambda: wait_until(lambda: _again(busy, other), "it never gets the place"))
    taker.start()
    waiter.join()
    other.give()
    taker.join()
    busy.give()


def _again(busy: Slot, other: Slot) -> bool:
    """Grades one more completion, as a worker does. Whether the other one had its turn."""
    busy.take()
    return not other.waiting


def test_a_place_is_free_again_however_its_process_ends(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    code = "import sys, time; from pathlib import Path; from evaluator.workers.locks import Slot; "
    code += "slot = Slot(count=1, folder=Path(sys.argv[1])); slot.take(); print('in', flush=True); time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code, folder], stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    process.stdout.readline()
    slot = Slot(count=1, folder=folder)
    assert slot.is_full()
    process.kill()
    process.communicate()
    slot.take()
    slot.give()


@pytest.mark.parametrize("folder", [lambda path: path.mkdir(mode=0o755), lambda path: path.symlink_to("/tmp")])
def test_a_folder_that_others_can_enter_is_not_used(tmp_path: Path, folder: Callable[[Path], None]) -> None:
    folder(tmp_path / "shared")
    slots = [Slot(count=1, folder=tmp_path / "shared") for _ in range(2)]
    for slot in slots:
        slot.take()  # none waits
        assert not slot.is_full()


@pytest.mark.usefixtures("_as_set_by_itself")
def test_as_many_at_once_as_configured() -> None:
    set_apart()
    configure(workers=1)
    assert os.environ[WORKERS] == "1"
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(_reward, range(4))) == [1.0] * 4
    assert len(workers()) == 1


WHILE_OTHERS_HAVE_ALL = f"""
import os
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])  # a room that no other test here uses
from concurrent.futures import ThreadPoolExecutor
from evaluator import Task, configure, grade
from evaluator.workers.locks import Slot
from tests.workers.processes import workers, zygotes_below
from tests.waiting import wait_until
configure(workers=4)
others = [Slot() for _ in range(4)]
for other in others:
    other.take()
task = Task.from_row({ECHO!r})
with ThreadPoolExecutor(4) as threads:
    grades = threads.map(lambda n: grade(task, f"print(input())  # {{n}}"), range(4))
    wait_until(lambda: workers() and zygotes_below(), "no worker")
    print(len(workers()))
    for other in others:
        other.give()
print(*(each.reward for each in grades))
"""


@pytest.mark.slow
def test_where_others_have_all_the_room_there_is_one_worker() -> None:
    said = subprocess.run(
        [sys.executable, "-c", WHILE_OTHERS_HAVE_ALL], capture_output=True, cwd=ROOT, text=True, check=True
    )
    assert said.stdout.splitlines() == ["1", "1.0 1.0 1.0 1.0"]


def _reward(number: int) -> float | None:
    found: Grade = grade(Task.from_row(ECHO), f"print(7)  # {number}")
    return found.reward


@pytest.mark.usefixtures("_as_set_by_itself")
def test_what_is_no_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in (0, -1, True, "2", 1.5):
        with pytest.raises(ValueError, match="give a whole number from 1"):
            configure(workers=wrong)  # type: ignore[arg-type]
    monkeypatch.setenv(WORKERS, "many")
    pool.close()
    with pytest.raises(EngineError, match=r"^ROLLSCOPE_WORKERS is 'many': give a whole number from 1, or remove it$"):
        grade(Task.from_row(ECHO), "print(7)")
    monkeypatch.setenv(WORKERS, "1")
    monkeypatch.setenv(MACHINE_WIDE, "maybe")
    with pytest.raises(EngineError, match=r"^ROLLSCOPE_MACHINE_WIDE is 'maybe': give yes or no, or remove it$"):
        grade(Task.from_row(ECHO), "print(7)")
