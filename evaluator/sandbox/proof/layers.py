"""The layers of the sandbox, judged by the probe's answers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evaluator.model import Limits
from evaluator.options import Way
from evaluator.sandbox.host.outcomes import Outcome, Status

_MIB = 2**20
_TIGHT = Limits(wall_s=1, cpu_s=1, memory_mb=128, virtual_mb=1024, output_mb=1, threads=16)
_PATIENT = Limits(wall_s=5, cpu_s=5, memory_mb=128, virtual_mb=1024, output_mb=16)
_HURRIED = Limits(wall_s=5, cpu_s=0.5, memory_mb=128, virtual_mb=1024)
_TRIES = 3
"""On a busy machine the time may be over before the limit that is tried is reached."""

Call = Callable[[str, list[object], Limits], Outcome]
"""Runs one function of the probe: its name, arguments, limits."""


class _Trial(NamedTuple):
    layer: str
    how: str
    function: str
    arguments: tuple[object, ...]
    status: Status
    limits: Limits = _TIGHT
    error: str = ""
    """With RAISED: the exception's name. Without namespaces the program may be ended instead: DIED."""


_TRIALS = (
    _Trial("address space", "RLIMIT_AS", "allocate", (2048 * _MIB,), Status.MEMORY),
    _Trial("memory", "watched ten times a second", "touch", (300 * _MIB,), Status.MEMORY, _PATIENT),
    _Trial("hidden memory", "unnamed files are counted", "hide", (300 * _MIB,), Status.MEMORY, _PATIENT),
    _Trial("CPU time", "the process's own clock, RLIMIT_CPU", "spin", (), Status.TIME, _HURRIED),
    _Trial("wall time", "the parent's clock", "sleep", (), Status.TIME),
    _Trial("output", "RLIMIT_FSIZE on files in memory", "shout", (8 * _MIB,), Status.OUTPUT),
    _Trial("open files", "RLIMIT_NOFILE", "hoard", (), Status.RAISED, error="OSError"),
    _Trial("threads", "RLIMIT_NPROC, or counted", "crowd", (), Status.RAISED, error="RuntimeError"),
    _Trial("files written", "a file system in memory, or counted", "fill", (200 * _MIB,), Status.RAISED,
           Limits(wall_s=5, output_mb=2), error="OSError"),
)  # fmt: skip


def limits(call: Call) -> list[Layer]:
    """One layer for each limit."""
    return [_tried(trial, call) for trial in _TRIALS]


def waits(counted: bool) -> Layer:
    """Whether a program that waits for a CPU can be distinguished from one that sleeps. Grading works without it."""
    proof = "counted for each thread" if counted else "not counted, or not visible"
    mend = (
        "until then a wall-clock time-out is a `sandbox_error`: use a kernel with CONFIG_SCHED_INFO, and a /proc "
        "that shows the processes of other users"
    )
    return Layer("waits for a CPU", counted, "/proc/PID/schedstat", proof, "" if counted else mend, needed=False)


def _tried(trial: _Trial, call: Call) -> Layer:
    for _ in range(_TRIES):
        outcome = call(trial.function, list(trial.arguments), trial.limits)
        if trial.status is Status.TIME or outcome.status is not Status.TIME:
            break
    raised = not trial.error or (outcome.failure is not None and outcome.failure.type == trial.error)
    held = (outcome.status is trial.status and raised) or (bool(trial.error) and _was_ended(outcome))
    return Layer(trial.layer, held, trial.how, ending(outcome), "" if held else "report this with the output of --json")


def _was_ended(outcome: Outcome) -> bool:
    """Whether we ended it over a limit, which the message names."""
    return outcome.status is Status.DIED and outcome.exit_status is None and bool(outcome.message)


def ending(outcome: Outcome) -> str:
    """How it ended, when, and the message."""
    message = outcome.message or (f"{outcome.failure.type}: {outcome.failure.message}" if outcome.failure else "")
    return f"{outcome.status.value} after {outcome.wall_s:.2f} s: {message}"


BORDER = ("files", "network", "process tree")
"""The layers that `strict` requires a proof of."""

_KNOWN_ENVIRONMENT = {
    "HOME", "TMPDIR", "PATH", "LANG", "TZ", "USER", "PYTHONHASHSEED", "PWD", "LC_CTYPE", "PYTHONPATH", "PYTHONHOME",
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LD_LIBRARY_PATH",
}  # fmt: skip
_OUR_DESCRIPTORS = 8
_FIXES = {
    "files": "use a kernel with Landlock (5.13 or newer, `lsm=` with landlock), or allow user namespaces",
    "network": "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER)",
    "process tree": "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER)",
}


class Layer(msgspec.Struct, frozen=True):
    """One layer of the sandbox: whether it holds, how it is enforced, the proof, and the fix (`mend`)."""

    name: str
    holds: bool
    how: str
    proof: str
    mend: str = ""
    needed: bool = True
    """False: the others hold without it."""


def attempts(way: Way) -> list[object]:
    """The arguments of the probe's `border`: private paths, system folders, processes of this machine."""
    folders = ["/", "/usr", "/etc", "/dev", "/proc"]
    if way is Way.LANDLOCK:  # with namespaces it has its own
        folders += ["/tmp", "/var/tmp", "/dev/shm"]  # noqa: S108
    return [_private_paths(), folders, [os.getpid(), os.getppid(), 1]]


def _private_paths() -> list[str]:
    """Files and folders of this machine that no completion may see. No interpreter needs them."""
    private = ["/etc/passwd", "/etc/shadow", "/home", "/root", "/var", "/sys", "/bin/sh", "/proc/1/environ", "/dev/shm"]  # noqa: S108
    private.append(str(Path(__file__).parent))
    with contextlib.suppress(RuntimeError):  # a user without an entry in /etc/passwd has no home
        private.append(str(Path.home()))
    with contextlib.suppress(OSError):  # the current folder may have been removed
        private.append(str(Path.cwd()))
    return list(dict.fromkeys(private))


def _identity(path: str) -> list[int]:
    """Device and number of a file of this machine; the sandbox has another /tmp."""
    try:
        status = Path(path).stat()
    except OSError:
        return []
    return [status.st_dev, status.st_ino]


def border(results: dict[str, Any], way: Way) -> list[Layer]:
    """The layers that the probe's `border` tried."""
    opened = [path for path, *identity in results["opened"] if identity == _identity(path)]
    written = results["written"]
    sockets = [name for name, (worked, _) in results["sockets"].items() if worked]
    started = [name for name in ("fork", "exec") if results[name][0]]
    strangers = results["strangers"]
    apart = way is Way.NAMESPACES
    return [
        _layer(
            "files",
            not opened and not written,
            "mount namespace, read-only root, Landlock if available" if apart else "Landlock, another user if root",
            f"opened {opened} of {len(_private_paths())} private paths, wrote to {written} of the system folders",
        ),
        _layer(
            "network",
            not sockets,
            "network namespace, seccomp" if apart else "seccomp: no sockets",
            f"made {sockets} of {', '.join(results['sockets'])} ({results['sockets']['IPv4'][1]})",
        ),
        _layer("processes", not started, "seccomp", f"fork: {results['fork'][1]}; exec: {results['exec'][1]}"),
        _layer(
            "process tree",
            not strangers and (apart or not started),
            "pid namespace, /proc with only itself" if apart else "no new processes, other processes unreachable",
            f"it sees {strangers or 'only itself'}",
        ),
    ]


def rest(results: dict[str, Any]) -> list[Layer]:
    """The layers that the probe's `rest` tried."""
    strangers = sorted(set(results["environment"]) - _KNOWN_ENVIRONMENT)
    privileged = any(int(each, 16) for each in results["capabilities"]) or results["root"][0]
    reached = [name for name in ("signal", "everybody") if results[name][0]]
    slowed = [name for name in ("priority", "CPUs") if results[name][0]]
    namespace, tables = results["tables"]
    shown = tables if namespace == str(Path("/proc/self/ns/net").readlink()) else []
    traced = [name for name in ("trace", "memory", "environ", "own record") if results[name][0]]
    return [
        _layer("names", not results["name"][0], "no resolver is reachable", results["name"][1]),
        _layer(
            "signals",
            not reached,
            "seccomp; pid namespace or Landlock",
            f"to a process outside: {results['signal'][1]}; to all: {results['everybody'][1]}",
        ),
        _layer(
            "priorities",
            not slowed,
            "seccomp",
            f"of its parent: {results['priority'][1]}; the parent's CPUs: {results['CPUs'][1]}",
        ),
        _layer(
            "network tables",
            not shown,
            "network namespace or Landlock",
            f"of this machine's it reads {shown or 'none'}",
        ),
        _layer(
            "ptrace and /proc",
            not traced,
            "seccomp, separate /proc or Landlock",
            f"ptrace: {results['trace'][1]}; memory: {results['memory'][1]}; environment: {results['environ'][1]}; "
            f"its own memory record: {results['own record'][1]}",
        ),
        _layer("shared memory", not results["shared"][0], "seccomp", f"System V: {results['shared'][1]}"),
        _layer(
            "privileges",
            not privileged and results["no_new_privileges"] == "1",
            "capabilities dropped, no_new_privs",
            f"effective {results['capabilities'][0]}, no_new_privs {results['no_new_privileges']}; "
            f"setuid: {results['root'][1]}",
        ),
        _layer(
            "system calls", results["seccomp"] == "2", "seccomp filter, an allow-list", f"mode {results['seccomp']}"
        ),
        _layer("environment", not strangers, "cleared", f"unexpected: {strangers or 'nothing'}"),
        _layer(
            "descriptors",
            max(results["descriptors"]) <= _OUR_DESCRIPTORS,
            "closed except eight",
            f"open: {results['descriptors']}, including the listing's own",
        ),
    ]


def _layer(name: str, holds: bool, how: str, proof: str) -> Layer:
    return Layer(name, holds, how, proof, "" if holds else _FIXES.get(name, "report this with the output of --json"))
