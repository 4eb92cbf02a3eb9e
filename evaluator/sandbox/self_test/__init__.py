"""Proves each layer on this machine: a program inside tries the forbidden thing, and tells what became of it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import msgspec

from evaluator.model import Limits
from evaluator.sandbox.execution import FaultError, Program
from evaluator.sandbox.interpreter import interpreter_for
from evaluator.sandbox.launch import target_user
from evaluator.sandbox.outcomes import Outcome, Status
from evaluator.sandbox.unavailable import SandboxUnavailable
from evaluator.sandbox.values import encoded_call

_PROBE = '''
import os, socket

def attempt(action, *arguments):
    """Whether it worked, and what was said."""
    try:
        return [True, str(action(*arguments))[:80]]
    except BaseException as error:
        return [False, f"{type(error).__name__}: {error}"[:80]]

def identity(path):
    os.listdir(path) if os.path.isdir(path) else open(path).close()
    told = os.stat(path)
    return [told.st_dev, told.st_ino]

def readable(paths):
    found = []
    for path in paths:
        try:
            found.append([path, *identity(path)])
        except OSError:
            pass
    return found

def written(paths):
    return [path for path in paths if attempt(lambda: open(path + "/rollscope-probe", "w").close())[0]]

def status():
    return dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)

def probe(paths, folders):
    told = status()
    return {
        "readable": readable(paths), "written": written(folders),
        "sockets": [attempt(socket.socket, family, socket.SOCK_STREAM) for family in (1, 2, 10)],
        "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]],
        "fork": attempt(os.fork), "exec": attempt(os.execv, "/bin/sh", ["sh"]),
        "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()), "own": os.getpid(),
        "kill": attempt(os.kill, -1, 0), "capabilities": told["CapEff"].strip(), "bounded": told["CapPrm"].strip(),
        "no_new_privileges": told["NoNewPrivs"].strip(), "seccomp": told["Seccomp"].strip(),
        "environment": sorted(os.environ), "descriptors": len(os.listdir("/proc/self/fd")),
    }

def allocate(size):
    return len(bytearray(size))

def resident(size):
    kept = bytearray(size)
    for place in range(0, size, 4096):
        kept[place] = 1
    import time
    time.sleep(5)

def shout(size):
    print("x" * size)

def spin():
    while True:
        pass

def hoard():
    kept = []
    while True:
        kept.append(open("/dev/null"))
'''

_KNOWN_ENVIRONMENT = {
    "HOME", "TMPDIR", "PATH", "LANG", "TZ", "USER", "PYTHONHASHSEED", "PWD", "LC_CTYPE",
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
}  # fmt: skip
_MIB = 2**20


class Layer(msgspec.Struct, frozen=True):
    """One layer of the sandbox: whether it holds, how it is enforced, what showed it, and what mends it."""

    name: str
    holds: bool
    how: str
    proof: str
    mend: str = ""


def self_test() -> list[Layer]:
    """Tries to break out and over each limit, in a few seconds; one `Layer` for each kind of attempt."""
    from evaluator.sandbox import Sandbox

    try:
        with Sandbox() as sandbox:
            found = _call(sandbox, "probe", _attempts())
            return [
                Layer("start", True, "bubblewrap and a warm interpreter", ", ".join(sandbox.layers)),
                *_probed(found),
                *_limited(sandbox),
            ]
    except SandboxUnavailable as error:
        return [Layer("start", False, "bubblewrap and a warm interpreter", error.reason, error.mend)]
    except FaultError as error:
        return [Layer("start", False, "bubblewrap and a warm interpreter", str(error), "see the line above")]


_REQUIRED = ("files", "network", "process tree")


def prove(sandbox: Any) -> None:
    """Tries to get out, before the first completion: files, network and process tree must hold.

    Raises `SandboxUnavailable` with the first that does not, `FaultError` when nothing could be tried.
    """
    layers = _probed(_call(sandbox, "probe", _attempts()))
    for layer in layers:
        if layer.name in (*_REQUIRED, "probe") and not layer.holds:
            raise SandboxUnavailable(f"{layer.name}: {layer.proof}", layer.mend or "see `rollscope doctor`")


def _attempts() -> list[object]:
    return [_private_paths(), ["/", "/usr", "/etc", "/dev", "/proc"]]


def _private_paths() -> list[str]:
    """Files and folders of this machine that no completion may see.

    Not those in which the interpreter itself stands: they are there inside, with nothing else of theirs.
    """
    private = ["/etc/passwd", "/etc/shadow", "/home", "/root", "/var", "/sys", "/bin/sh", str(Path.home()), __file__]
    with contextlib.suppress(OSError):  # the folder that we stand in may have been removed
        private.append(str(Path.cwd()))
    shown = [inside for _, inside in interpreter_for(target_user()).binds]
    return [path for path in private if not any(f"{each}/".startswith(f"{path.rstrip('/')}/") for each in shown)]


def _identity(path: str) -> list[int]:
    """Device and number of a file here; the sandbox has a /tmp too, but not this one."""
    try:
        told = Path(path).stat()
    except OSError:
        return []
    return [told.st_dev, told.st_ino]


def _call(sandbox: Any, name: str, arguments: list[object], limits: Limits | None = None) -> Outcome:
    limits = limits or Limits(wall_s=5, cpu_s=5)
    with sandbox.execute(Program(_PROBE, name), limits) as execution:
        outcome: Outcome = execution.run(encoded_call(arguments, {}), wall_s=limits.wall_s)
    return outcome


def _probed(outcome: Outcome) -> list[Layer]:
    if outcome.status is not Status.ANSWERED or not isinstance(outcome.value, dict):
        said = outcome.failure.message if outcome.failure else outcome.message
        return [Layer("probe", False, "a program inside", f"{outcome.status.value}: {said}", "report this")]
    found: dict[str, Any] = outcome.value
    opened = [path for path, *identity in found["readable"] if identity == _identity(path)]
    written = found["written"]
    sockets = [said for worked, said in found["sockets"] if worked]
    processes = [number for number in found["processes"] if number not in (1, found["own"])]
    started = [what for what in ("fork", "exec") if found[what][0]]
    strangers = sorted(set(found["environment"]) - _KNOWN_ENVIRONMENT)
    privileged = int(found["capabilities"], 16) | int(found["bounded"], 16)
    return [
        Layer("files", not opened and not written, "mount namespace, read-only root, Landlock",
              f"opened {opened}, wrote to {written}; of {len(_private_paths())} private paths and 5 system folders"),
        Layer("network", not sockets and found["interfaces"] in ([], ["lo"]), "network namespace, seccomp",
              f"sockets: {len(sockets)} of 3 made ({found['sockets'][1][1]}); interfaces: {found['interfaces']}"),
        Layer("processes", not started, "seccomp", f"fork: {found['fork'][1]}; exec: {found['exec'][1]}"),
        Layer("process tree", not processes, "pid namespace of its own",
              f"it sees {processes or 'itself alone'}; kill(-1): {found['kill'][1]}"),
        Layer("privileges", not privileged and found["no_new_privileges"] == "1", "capabilities dropped, no_new_privs",
              f"effective {found['capabilities']}, no_new_privs {found['no_new_privileges']}"),
        Layer("system calls", found["seccomp"] == "2", "seccomp filter, an allow-list", f"mode {found['seccomp']}"),
        Layer("environment", not strangers, "cleared", f"unexpected: {strangers}" if strangers else "only what we set"),
        Layer("descriptors", found["descriptors"] <= 8, "closed but for seven",
              f"{found['descriptors']} open, the listing's own included"),
    ]  # fmt: skip


def _limited(sandbox: Any) -> list[Layer]:
    tight = Limits(wall_s=1, cpu_s=1, memory_mb=128, virtual_mb=1024, output_mb=1)
    trials = [
        ("address space", "RLIMIT_AS", "allocate", [2048 * _MIB], Status.MEMORY),
        ("memory", "watched ten times a second", "resident", [300 * _MIB], Status.MEMORY),
        ("output", "RLIMIT_FSIZE on files in memory", "shout", [8 * _MIB], Status.OUTPUT),
        ("time", "the parent's clock, RLIMIT_CPU", "spin", [], Status.TIME),
    ]
    layers = []
    for name, how, function, arguments, wanted in trials:
        outcome = _call(sandbox, function, list(arguments), tight)
        proof = f"{outcome.status.value} after {outcome.wall_s:.2f} s: {outcome.message}"
        layers.append(Layer(name, outcome.status is wanted, how, proof))
    hoarded = _call(sandbox, "hoard", [], tight)
    said = hoarded.failure.message if hoarded.failure else hoarded.message
    held = hoarded.status is Status.RAISED and hoarded.failure is not None and hoarded.failure.type == "OSError"
    layers.append(Layer("open files", held, "RLIMIT_NOFILE", said))
    return layers
