"""One layer of the sandbox, and what the probe's answers say of those at the border."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

from evaluator.sandbox.launch.settings import Way

BORDER = ("files", "network", "process tree")
"""What `strict` asks a proof of."""

_KNOWN_ENVIRONMENT = {
    "HOME", "TMPDIR", "PATH", "LANG", "TZ", "USER", "PYTHONHASHSEED", "PWD", "LC_CTYPE", "PYTHONPATH", "PYTHONHOME",
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "LD_LIBRARY_PATH",
}  # fmt: skip
_OUR_DESCRIPTORS = 8
_MENDS = {
    "files": "use a kernel with Landlock (5.13 or newer, `lsm=` with landlock), or allow user namespaces",
    "network": "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER)",
    "process tree": "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER)",
}


class Layer(msgspec.Struct, frozen=True):
    """One layer of the sandbox: whether it holds, how it is enforced, what showed it, and what mends it."""

    name: str
    holds: bool
    how: str
    proof: str
    mend: str = ""
    needed: bool = True
    """False: the others hold without it."""


def attempts(way: Way) -> list[object]:
    """The arguments of the probe's `border`: private paths, folders of the system, processes of this machine."""
    folders = ["/", "/usr", "/etc", "/dev", "/proc"]
    if way is Way.LANDLOCK:  # with namespaces it has these for itself
        folders += ["/tmp", "/var/tmp", "/dev/shm"]  # noqa: S108
    return [_private_paths(), folders, [os.getpid(), os.getppid(), 1]]


def _private_paths() -> list[str]:
    """Files and folders of this machine that no completion may see: an interpreter needs none of them."""
    private = ["/etc/passwd", "/etc/shadow", "/home", "/root", "/var", "/sys", "/bin/sh", "/proc/1/environ", "/dev/shm"]  # noqa: S108
    private.append(str(Path(__file__).parent))
    with contextlib.suppress(RuntimeError):  # a user whom nobody has entered anywhere has no home
        private.append(str(Path.home()))
    with contextlib.suppress(OSError):  # the folder that we stand in may have been removed
        private.append(str(Path.cwd()))
    return list(dict.fromkeys(private))


def _identity(path: str) -> list[int]:
    """Device and number of a file here; the sandbox has a /tmp too, but not this one."""
    try:
        told = Path(path).stat()
    except OSError:
        return []
    return [told.st_dev, told.st_ino]


def border(found: dict[str, Any], way: Way) -> list[Layer]:
    """What the probe's `border` found."""
    opened = [path for path, *identity in found["opened"] if identity == _identity(path)]
    written = found["written"]
    sockets = [name for name, (worked, _) in found["sockets"].items() if worked]
    started = [what for what in ("fork", "exec") if found[what][0]]
    strangers = found["strangers"]
    apart = way is Way.NAMESPACES
    return [
        _layer(
            "files",
            not opened and not written,
            "mount namespace, read-only root, Landlock where there is" if apart else "Landlock, another user when root",
            f"opened {opened} of {len(_private_paths())} private paths, wrote to {written} of the system's folders",
        ),
        _layer(
            "network",
            not sockets,
            "network namespace, seccomp" if apart else "seccomp: no sockets",
            f"made {sockets} of {', '.join(found['sockets'])} ({found['sockets']['IPv4'][1]})",
        ),
        _layer("processes", not started, "seccomp", f"fork: {found['fork'][1]}; exec: {found['exec'][1]}"),
        _layer(
            "process tree",
            not strangers and (apart or not started),
            "pid namespace of its own" if apart else "no new processes, other processes unreachable",
            f"it sees {strangers or 'itself alone'}",
        ),
    ]


def rest(found: dict[str, Any]) -> list[Layer]:
    """What the probe's `rest` found."""
    strangers = sorted(set(found["environment"]) - _KNOWN_ENVIRONMENT)
    privileged = any(int(each, 16) for each in found["capabilities"]) or found["root"][0]
    reached = [name for name in ("signal", "everybody") if found[name][0]]
    slowed = [name for name in ("priority", "CPUs") if found[name][0]]
    namespace, tables = found["tables"]
    shown = tables if namespace == str(Path("/proc/self/ns/net").readlink()) else []
    traced = [name for name in ("trace", "memory", "environ", "own record") if found[name][0]]
    return [
        _layer("names", not found["name"][0], "no resolver can be reached", found["name"][1]),
        _layer(
            "signals",
            not reached,
            "seccomp; pid namespace or Landlock",
            f"to a process outside: {found['signal'][1]}; to all: {found['everybody'][1]}",
        ),
        _layer(
            "priorities",
            not slowed,
            "seccomp",
            f"of what forked it: {found['priority'][1]}; its CPUs: {found['CPUs'][1]}",
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
            "seccomp, /proc of its own or Landlock",
            f"ptrace: {found['trace'][1]}; memory: {found['memory'][1]}; environment: {found['environ'][1]}; "
            f"its own record of memory: {found['own record'][1]}",
        ),
        _layer("shared memory", not found["shared"][0], "seccomp", f"System V: {found['shared'][1]}"),
        _layer(
            "privileges",
            not privileged and found["no_new_privileges"] == "1",
            "capabilities dropped, no_new_privs",
            f"effective {found['capabilities'][0]}, no_new_privs {found['no_new_privileges']}; "
            f"setuid: {found['root'][1]}",
        ),
        _layer("system calls", found["seccomp"] == "2", "seccomp filter, an allow-list", f"mode {found['seccomp']}"),
        _layer("environment", not strangers, "cleared", f"unexpected: {strangers or 'nothing'}"),
        _layer(
            "descriptors",
            max(found["descriptors"]) <= _OUR_DESCRIPTORS,
            "closed but for eight",
            f"open: {found['descriptors']}, the listing's own included",
        ),
    ]


def _layer(name: str, holds: bool, how: str, proof: str) -> Layer:
    return Layer(name, holds, how, proof, "" if holds else _MENDS.get(name, "report this with the output of --json"))
