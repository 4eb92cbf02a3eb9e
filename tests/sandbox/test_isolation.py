"""What a completion can't reach: files, network, processes, privileges, earlier and later completions."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Sandbox, Status
from tests.sandbox.conftest import Run, called


def test_it_starts_from_a_removed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with Sandbox() as sandbox:
        sandbox.warm_up()


REFUSED = {
    "read a file of the machine": "open('/etc/passwd')",
    "read a home": "os.listdir(os.path.expanduser('~root'))",
    "write beside the standard library": "open(os.__file__ + 'x', 'w')",
    "write to the root": "open('/x', 'w')",
    "remove the interpreter": "os.unlink(sys.executable or '/usr/bin/python3')",
    "a socket": "socket.socket()",
    "a socket of Unix": "socket.socket(socket.AF_UNIX)",
    "a socket of netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "a connection": "socket.create_connection(('127.0.0.1', 22), 1)",
    "a name": "socket.getaddrinfo('example.org', 80)",
    "a namespace": "libc(lib.unshare(0x10000000))",
    "a mount": "libc(lib.mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None))",
    "another process's memory": "open('/proc/1/mem', 'rb').read(1)",
    "another process's environment": "open('/proc/1/environ', 'rb').read(1)",
    "chroot": "os.chroot('/tmp')",
    "another user": "os.setuid(1)",
    "a device": "os.mknod('/tmp/sda', 0o60600, os.makedev(8, 0))",
    "higher limits": "resource.setrlimit(resource.RLIMIT_NOFILE, (10**6, 10**6))",
    "more CPU time": "resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))",
    "the host's name": "socket.sethostname('x')",
    "the kernel's log": "libc(lib.klogctl(2, ctypes.create_string_buffer(10), 10))",
    "shared memory of System V": "libc(lib.shmget(1, 4096, 0o1600))",
    "keys": "libc(lib.syscall(250, 0, -3, 0))",
    "bpf": "libc(lib.syscall(321, 0, 0, 0))",
    "io_uring": "libc(lib.syscall(425, 1, 0))",
    "user faults": "libc(lib.syscall(323, 0))",
    "the 32 bit calls of x86_64": "libc(lib.syscall(0x40000000 + 39))",
    "a file that is larger than the output may be": "os.posix_fallocate(1, 0, 1 << 30)",
    "a file that is larger than it looks": "libc(lib.fallocate(1, 1, ctypes.c_long(0), ctypes.c_long(1 << 30)))",
}
ATTEMPT = """
import ctypes, multiprocessing, os, resource, socket, subprocess, sys
lib = ctypes.CDLL(None, use_errno=True)
def libc(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def f(what):
    try:
        return repr(eval(what))
    except BaseException as error:
        return [type(error).__name__]
"""


def test_it_is_refused(call: Run) -> None:
    outcomes = dict(zip(REFUSED, call(ATTEMPT, *([what] for what in REFUSED.values())), strict=True))
    assert {outcome.status for outcome in outcomes.values()} == {Status.ANSWERED}
    assert {what: outcome.value for what, outcome in outcomes.items() if not isinstance(outcome.value, list)} == {}


def test_the_machines_environment_variables_are_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLSCOPE_TEST_SECRET", "s3cr3t")
    with Sandbox() as own:
        (outcome,) = called(own, "import os\ndef f(): return dict(os.environ)")
    assert isinstance(outcome.value, dict)
    assert "s3cr3t" not in repr(outcome.value)
    assert outcome.value["HOME"] == "/tmp"


def test_our_own_files_are_not_seen(call: Run) -> None:
    here = str(Path(__file__).resolve())
    (outcome,) = call("def f(path):\n    try: return len(open(path).read())\n    except OSError: return None", [here])
    assert (outcome.status, outcome.value) == (Status.ANSWERED, None)


BOMBS = [
    "while True: threading.Thread(target=time.sleep, args=(99,)).start()",
    "kept = [open(f'{n}', 'w') for n in range(10**6)]",
    "os.ftruncate(open('x', 'w').fileno(), 1 << 40)",
]


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_harms_only_itself(call: Run, bomb: str) -> None:
    source = f"import os, threading, time\ndef f():\n    {bomb}\n    return 'it worked'"
    (outcome,) = call(source, limits=Limits(wall_s=2, cpu_s=2, memory_mb=512))
    assert outcome.status is not Status.ANSWERED
    (after,) = call("def f(): return open('x', 'w').write('room')")
    assert after.value == 4
