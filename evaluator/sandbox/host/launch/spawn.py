"""Starts a zygote in one of the two ways: a warm interpreter with access to nothing that it doesn't need."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, NamedTuple

from evaluator.options import Settings, Way
from evaluator.sandbox.guest.channel import send
from evaluator.sandbox.guest.linux import DEVICE, EVERYTHING, READ, WRITE
from evaluator.sandbox.host.launch import bubblewrap, memory_cgroup, own_folder, seccomp
from evaluator.sandbox.host.launch.bundle import BOOT, bundle
from evaluator.sandbox.host.launch.interpreter import Interpreter, interpreter_for, outside_of
from evaluator.sandbox.host.launch.settings import Warm

_STACK_KIB = 256 * 1024
_READ_WRITE = READ | WRITE | DEVICE

_PRELOAD = (
    "abc array atexit base64 bisect calendar cmath collections collections.abc contextlib copy dataclasses "
    "datetime decimal encodings.ascii encodings.latin_1 enum fractions functools heapq inspect io "
    "itertools json keyword linecache locale math numbers operator os os.path pprint queue random re "
    "signal statistics string struct sys textwrap threading time traceback types typing unicodedata warnings "
    "weakref zlib _strptime"
).split()

_PANDAS = ("numpy.random", "pyarrow", "pandas")
_OF_PACKAGE = {
    "numpy": ("numpy", "numpy.random"),
    "pandas": _PANDAS,
    "plots": (*_PANDAS, "matplotlib.pyplot", "seaborn"),
    "science": (*_PANDAS, "scipy.stats", "sklearn.linear_model", "sklearn.cluster", "sklearn.ensemble"),
}
"""None of them starts a thread, with `_ENVIRONMENT`: a fork would not have it."""

_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "USER": "sandbox",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}

# From the machine's own /proc. All of /proc/self would show the machine's network (`net`, `task`) and mounts
# (`mountinfo`).
_RECORDS = [
    *(f"/proc/{name}" for name in ("cpuinfo", "meminfo")),
    *(f"/proc/self/{name}" for name in "cmdline comm environ fd limits maps stat statm status".split()),
]

# bubblewrap ends with the thread that started it; this thread lives as long as this process.
_starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rollscope-starter")


def _renew_starter() -> None:
    global _starter  # noqa: PLW0603 - a forked child has the executor, but not its thread
    _starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rollscope-starter")


os.register_at_fork(after_in_child=_renew_starter)


def target_user() -> int:
    """The user that runs completions, as seen from outside: nobody if we are root, else our own."""
    return own_folder.NOBODY if os.geteuid() == 0 else os.geteuid()


class Launched(NamedTuple):
    """A zygote that is starting: its process, our end of the connection, its stderr, its folder."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    errors: IO[bytes]
    folder: Path | None
    """Where it makes a new folder for each completion; None if it has a mount namespace."""


class _Launch(NamedTuple):
    """What differs between the two ways."""

    command: list[str]
    environment: dict[str, str] | None
    user: int
    folder: Path | None
    settings: dict[str, object]


def start(settings: Settings, way: Way, warm: Warm, rehearsals: Sequence[bytes]) -> Launched:
    """Starts a zygote; it is ready when it sends `R`. `rehearsals`: orders for processes, which it carries out first.

    Raises `SandboxUnavailable` if bubblewrap or a readable interpreter is missing, `InterpreterError` if the requested
    one is not a usable Python.
    """
    interpreter = interpreter_for(target_user(), settings.python)
    seed = settings.hash_seed
    launch = _in_namespaces(interpreter, warm, seed) if way is Way.NAMESPACES else _in_own_folder(interpreter, seed)
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the zygote
            process = _starter.submit(_spawn, launch, theirs.fileno(), errors).result()
    except BaseException:
        ours.close()
        if launch.folder is not None:
            own_folder.remove(launch.folder)
        raise
    prepared = warm.packages if interpreter.has_numpy else ()
    preload = _preloaded(warm.suite, prepared, in_namespaces=way is Way.NAMESPACES)
    inside = launch.settings | {"rehearsals": list(rehearsals)}
    with contextlib.suppress(OSError):  # it has ended, which the wait for `R` detects
        suites, own_python = not warm.shared, settings.python is None
        send(ours.fileno(), b"B", bundle(inside, preload, warm.runner, suites=suites, own_python=own_python))
    return Launched(process, ours, errors, launch.folder)


def _preloaded(suite: bool, prepared: Sequence[str], *, in_namespaces: bool) -> list[str]:
    modules = [*_PRELOAD]
    for kind in prepared:  # pyplot makes folders in the home folder, which otherwise is that of the first completion
        modules += _OF_PACKAGE[kind] if in_namespaces or kind == "numpy" else _PANDAS
    if suite and prepared:
        modules.append("numpy.testing")  # a test's process watches its functions: see `empty_arrays`
    return modules


def _spawn(launch: _Launch, descriptor: int, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    is_root = os.geteuid() == 0
    stack = f'ulimit -S -s {_STACK_KIB} 2>/dev/null; exec "$@"'
    python = ["-S", "-s", "-P", "-B", "-c", BOOT, str(descriptor)]
    return subprocess.Popen(
        ["/bin/sh", "-c", stack, "sh", *launch.command, *python],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=launch.environment,
        pass_fds=(descriptor,),
        start_new_session=True,
        cwd="/",
        user=launch.user if is_root else None,
        group=launch.user if is_root else None,
        extra_groups=[] if is_root else None,
    )


def _in_namespaces(interpreter: Interpreter, warm: Warm, hash_seed: int) -> _Launch:
    home = bubblewrap.HOME
    # The mounts decide what can be read; one rule for all of them costs less than one for each.
    devices = [("/dev", _READ_WRITE)] if memory_cgroup.available() else _devices()
    rules = [("/", READ), *devices, *((path, EVERYTHING) for path in bubblewrap.WRITABLE)]
    settings = {
        "namespaces": True,
        "shared": warm.shared,
        "counts_tasks": True,
        "home": home,
        "writable": list(bubblewrap.WRITABLE),
        "path": [home, *interpreter.path],
        "rules": rules,
        "filters": (_shared_filters() if warm.shared else _filters(loopback=warm.system)) | seccomp.bpf_on_top(),
    }
    environment = _environment(home, interpreter.library_folder, hash_seed)
    command = bubblewrap.command(interpreter, environment, system=warm.system)
    return _Launch(command, None, target_user(), None, settings)


def _filters(*, loopback: bool) -> dict[str, bytes]:
    return {
        f"{'reporting ' * reporting}{'loopback ' * local}{'template' if processes else 'completion'}": (
            seccomp.bpf_program(processes=processes, reporting=reporting, loopback=local)
        )
        for reporting in (False, True)
        for processes in (False, True)
        for local in (False, loopback)
    }


def _shared_filters() -> dict[str, bytes]:
    return {
        "completion": seccomp.bpf_in_shared_namespaces(),
        "reporting completion": seccomp.bpf_in_shared_namespaces(reporting=True),
    }


def _in_own_folder(interpreter: Interpreter, hash_seed: int) -> _Launch:
    user, reports_threads = own_folder.next_user(), not own_folder.has_users()
    outside = outside_of(interpreter)
    folder = own_folder.make(user, map(Path, outside.links))
    home = str(folder / own_folder.HOME)
    readable = [*outside.readable, str(folder / own_folder.PACKAGES), *_RECORDS]
    rules = [*((path, READ) for path in readable), *_devices(), (home, EVERYTHING)]
    settings = {
        "namespaces": False,
        "shared": False,
        "counts_tasks": not reports_threads,
        "home": home,
        "writable": [home],
        "path": [home, *outside.path, str(folder / own_folder.PACKAGES)],
        "rules": rules,
        "filters": {
            "completion": seccomp.bpf_without_namespaces(),
            "reporting completion": seccomp.bpf_without_namespaces(reporting=True, reports_threads=reports_threads),
            "template": seccomp.bpf_of_template_without_namespaces(),
            **seccomp.bpf_on_top(),
        },
    }
    environment = _environment(home, outside.library_folder, hash_seed)
    return _Launch([outside.executable], environment, user, folder, settings)


def _environment(home: str, library_folder: str, hash_seed: int) -> dict[str, str]:
    libraries = {"LD_LIBRARY_PATH": library_folder} if library_folder else {}
    return {"HOME": home, "TMPDIR": home, "PYTHONHASHSEED": str(hash_seed), **_ENVIRONMENT, **libraries}


def _devices() -> list[tuple[str, int]]:
    """/dev/zero is read-only: mapped for writing, it would be memory that only the kernel can count."""
    written = [(f"/dev/{name}", _READ_WRITE) for name in ("null", "full", "random", "urandom")]
    return [*written, ("/dev/zero", READ)]
