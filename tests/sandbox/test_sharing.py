"""Completions that follow one another in the same namespaces: none reaches the next, which waits, or the last."""

import os

import pytest

from evaluator.sandbox import Outcome, Program, Sandbox, Status, encoded_call
from tests.sandbox.conftest import PATIENT
from tests.workers.processes import descendants


def run(sandbox: Sandbox, source: str) -> Outcome:
    """Calls `f` of the source. The next process waits meanwhile."""
    given = encoded_call((), {})
    with sandbox.execute(Program(source, "f"), PATIENT) as execution:
        (outcome,) = execution.run_ahead([given], wall_s=30) or [execution.run(given, wall_s=30)]
    return outcome


REACHING = """
import os, resource
def attempts(number):
    yield "file", lambda: open(f"/proc/{number}/status").close()
    yield "memory", lambda: open(f"/proc/{number}/mem", "r+b").close()
    yield "descriptors", lambda: os.listdir(f"/proc/{number}/fd")
    yield "signal", lambda: os.kill(number, 0)
    yield "limit", lambda: resource.prlimit(number, resource.RLIMIT_NOFILE, (4, 4))
    yield "priority", lambda: os.setpriority(os.PRIO_PROCESS, number, 19)
    yield "process group", lambda: os.setpgid(number, os.getpgrp())
def f():
    worked = []
    for number in [n for n in range(1, os.getpid() + 40) if n != os.getpid()]:
        for name, attempt in attempts(number):
            try:
                attempt()
                worked.append((number, name))
            except OSError:
                pass
    return worked, [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
"""


def test_no_other_process_is_reached(namespaces: Sandbox) -> None:
    run(namespaces, "def f(): return 1")
    before = descendants(os.getpid())
    outcome = run(namespaces, REACHING)
    assert outcome.value == ([], []), outcome
    assert len(descendants(os.getpid())) >= len(before) - 1
    kept = "os.getpriority(0, 0), resource.getrlimit(resource.RLIMIT_NOFILE)[0]"
    after = run(namespaces, f"import os, resource\ndef f(): return {kept}")
    assert after.value == (os.getpriority(os.PRIO_PROCESS, 0), 128)


FOUND = """
import os
def f():
    found = []
    for folder in ("/tmp", "/dev/shm"):
        state = os.stat(folder)
        names = sorted(name for name in os.listdir(folder) if name != "solution.py")
        room = os.statvfs(folder)
        times = (state.st_atime, state.st_mtime) if folder != "/tmp" else ()  # its source has just been written there
        rights = oct(state.st_mode), state.st_nlink, os.listxattr(folder)
        found.append((folder, rights, times, names, room.f_ffree, room.f_bfree))
    return found, open("solution.py").read().startswith("\\nimport os"), os.umask(0), os.getcwd()
"""
LEAVING = {
    "files": "for n in range(300): open(f'{n}', 'w').write('x' * 999)",
    "a file in shared memory": "open('/dev/shm/left', 'w').write('x' * 9999)",
    "a deep tree": "os.makedirs('a/' * 200); os.chmod('a/a/a', 0); os.chmod('a', 0)",
    "no rights": "os.chmod('/tmp', 0); os.chmod('/dev/shm', 0o400)",
    "a folder in the place of its source": "os.unlink('solution.py'); os.makedirs('solution.py/deep')",
    "a link in the place of its source": "os.unlink('solution.py'); os.symlink('/proc/self/environ', 'solution.py')",
    "a folder in the place of another source": "os.makedirs('main.py/deep')",
    "links": "os.symlink('/', 'root'); os.link('solution.py', 'again'); os.mkfifo('pipe')",
    "times": "os.utime('/tmp', (7, 7)); os.utime('/dev/shm', (7, 7))",
    "a mask": "os.umask(0o777)",
    "a full disk": "open('/dev/shm/full', 'wb').write(bytes(3 << 20))\\n    open('full', 'wb').write(bytes(3 << 20))",
    "an open and deleted file": "global k\\n    k = open('left', 'w'); k.write('x' * 99999); os.unlink('left')",
    "a folder as working directory": "os.mkdir('here'); os.chdir('here')",
}


@pytest.mark.parametrize("what", LEAVING)
def test_the_next_finds_what_a_first_one_would_find(namespaces: Sandbox, what: str) -> None:
    first = run(namespaces, FOUND)
    assert first.status is Status.ANSWERED, first
    leaving = LEAVING[what].replace("\\n", "\n")
    left = run(namespaces, f"import os\ndef f():\n    {leaving}\n    return 1")
    assert left.value == 1, left
    assert run(namespaces, FOUND).value == first.value


def test_flags_of_a_folder_can_not_be_set(namespaces: Sandbox) -> None:
    source = (
        "import fcntl, os\ndef f():\n    folder, refused = os.open('/tmp', os.O_RDONLY), 0\n"
        "    for number in (0x40086602, 0x40046602, 0x401C5820):\n"
        "        try: fcntl.ioctl(folder, number, bytes(32))\n        except PermissionError: refused += 1\n"
        "    return refused"
    )
    assert run(namespaces, source).value == 3


def test_a_completion_that_is_killed_leaves_nothing(namespaces: Sandbox) -> None:
    source = "import os\ndef f():\n    open('left', 'w').close()\n    while True: pass"
    with namespaces.execute(Program(source, "f"), PATIENT) as execution:
        (late,) = execution.run_ahead([encoded_call((), {})], wall_s=0.3)
    assert late.status is Status.TIME
    assert run(namespaces, "import os\ndef f(): return os.listdir('/tmp')").value == ["solution.py"]


@pytest.mark.slow
def test_a_process_that_holds_on_after_its_answers_is_ended(namespaces: Sandbox) -> None:
    """A thread that never gives up the interpreter delays the end of the process; the next one starts all the same."""
    source = (
        "import threading, re\ndef f():\n"
        "    threading.Thread(target=lambda: re.match('(a+)+$', 'a' * 40 + 'b'), daemon=True).start()\n    return 1"
    )
    for _ in range(2):
        with namespaces.execute(Program(source, "f"), PATIENT) as execution:
            execution.run_ahead([encoded_call((), {})], wall_s=1)
    assert run(namespaces, "def f(): return 2").value == 2
