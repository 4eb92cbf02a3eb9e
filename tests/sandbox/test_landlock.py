"""What differs without namespaces: limits that only the parent can check, and no processes of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Sandbox, Settings, Status, Way
from evaluator.sandbox.host.launch import own_folder
from evaluator.sandbox.host.limits.process_table import started
from tests.sandbox.conftest import PATIENT, called, ran


@pytest.fixture(scope="module")
def landlock() -> Iterator[Sandbox]:
    with Sandbox(Settings(way=Way.LANDLOCK)) as made:
        yield made


def test_no_new_processes_can_be_allowed(landlock: Sandbox) -> None:
    (outcome,) = ran(landlock, "import os; os.fork()", limits=Limits(wall_s=30, processes=6))
    assert "new processes are refused here" in outcome.failure.message


REACHING = """
import os, socket
def f(what):
    try: return repr(eval(what))
    except OSError as error: return type(error).__name__
"""


def test_the_machine_is_out_of_reach(landlock: Sandbox) -> None:
    reaching = ["open('/etc/passwd')", "os.listdir('/home')", "open('/x', 'w')", "os.kill(os.getppid(), 0)"]
    reaching += ["socket.socket()", "os.listdir('/proc/net')", "os.listdir('/proc/1/fd')", "open('/dev/shm/x', 'w')"]
    outcomes = called(landlock, REACHING, *([what] for what in reaching))
    assert {outcome.value for outcome in outcomes} <= {"PermissionError", "FileNotFoundError"}


def test_what_one_completion_leaves_in_its_folder_is_not_there_for_the_next(landlock: Sandbox) -> None:
    source = "import os\ndef f():\n    found = os.listdir()\n    open('left', 'w').close()\n    return found"
    assert [called(landlock, source)[0].value for _ in range(2)] == [["solution.py"]] * 2
    outcomes = ran(landlock, source + "\nprint(f(), input())", b"a", b"b", reuse=False)
    assert [outcome.stdout.text() for outcome in outcomes] == ["['main.py'] a\n", "['main.py'] b\n"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("for n in range(10**6): open(f'{n}', 'wb').write(bytes(1 << 20))", "64 MiB"),
        ("for n in range(10**6): open(f'{n}', 'wb').close()", "more than 2048 files"),
    ],
)
def test_its_files_are_limited_from_outside(landlock: Sandbox, source: str, message: str) -> None:
    (outcome,) = ran(landlock, source, limits=PATIENT)
    assert outcome.status is Status.DIED
    assert message in outcome.message


def test_leftovers_of_ended_processes_are_removed_though_others_remove_some_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ended, gone = tmp_path / "rollscope-sandbox-999999999-1-a", tmp_path / "rollscope-sandbox-999999999-1-b"
    living = tmp_path / f"rollscope-sandbox-{os.getpid()}-{started(os.getpid())}-c"
    ended.mkdir()
    living.mkdir()
    monkeypatch.setattr(own_folder, "_MEMORY", tmp_path)
    monkeypatch.setattr(Path, "glob", lambda folder, _: [gone, ended, living] if folder == tmp_path else [])
    own_folder._sweep_once.cache_clear()
    made = own_folder.make(os.geteuid(), [])
    try:
        assert {*tmp_path.iterdir()} - {made} == {living}
    finally:
        own_folder.remove(made)
