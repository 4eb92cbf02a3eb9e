"""What a completion can't reach: files, network, processes, privileges, earlier and later completions."""

from pathlib import Path

import pytest

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
    "write beside the standard library": "open(os.__file__ + 'x', 'w')",
    "write to the root": "open('/x', 'w')",
    "remove the interpreter": "os.unlink(sys.executable or '/usr/bin/python3')",
    "a namespace": "libc(lib.unshare(0x10000000))",
    "a mount": "libc(lib.mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None))",
    "another process's descriptors": "os.listdir('/proc/1/fd')",
    "a signal to its group": "os.kill(0, 0)",
    "a signal to a group": "os.killpg(os.getpgid(0), 0)",
    "the owner of a pipe": "fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, 1)",
    "the signal of a file": "fcntl.fcntl(0, 10, 2)",
    "the order in which the kernel kills": "open('/proc/self/oom_score_adj', 'w')",
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
import ctypes, fcntl, os, resource, socket, sys
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


def test_its_home_is_its_own_folder(namespaces: Sandbox) -> None:
    assert called(namespaces, "import os\ndef f(): return os.environ['HOME']")[0].value == "/tmp"
