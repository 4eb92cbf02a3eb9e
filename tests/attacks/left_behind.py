"""What completions could leave on the machine: processes, files, mounts, cgroups, shared memory."""

import contextlib
import ctypes
import os
import re
from collections.abc import Iterator
from pathlib import Path

from evaluator.sandbox.host.launch.spawn import own_folder
from tests.attacks.process_tree import descendants
from tests.waiting import wait_until

_PR_SET_CHILD_SUBREAPER = 36
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path("/dev/mqueue"))
_WORKERS_FOLDER = re.compile(r"/rollscope-sandbox-(\d+)-")
_OWNERS_CGROUP = re.compile(r"/rollscope-(\d+)-")
_USERS_OF_A_PROCESS = 64
_CGROUPS = Path("/sys/fs/cgroup")

Listed = dict[str, list[str]]


def become_heir() -> None:
    """Makes processes whose parents have ended children of this one, so that they are found here."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def what_is_there() -> Listed:
    return {
        "processes": sorted(f"{number} {name}" for number, name in descendants().items()),
        "files": sorted(_files(of_workers=True)),
        "strays": sorted(_files(of_workers=False)),
        "mounts": sorted(line.split(" ", 5)[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()),
        "cgroups": sorted(_unused_cgroups()),
        "shared_memory": sorted(_system_v()),
    }


def new_since(before: Listed) -> Listed:
    """What is there now and was not before, and stays: what is just ending, goes.

    A stray may be the work of another test of this user. Those that are there when all else has ended are given as
    long again; what comes later is not looked at.
    """
    new: dict[str, set[str]] = {}

    def ended() -> bool:
        new.update(_new_now(before))
        return not any(found for kind, found in new.items() if kind != "strays")

    def went() -> bool:
        new["strays"].intersection_update(_files(of_workers=False))
        return not new["strays"]

    for gone in (ended, went):
        with contextlib.suppress(AssertionError):
            wait_until(gone, "what stays is the answer")
    return {kind: sorted(found) for kind, found in new.items()}


def _new_now(before: Listed) -> dict[str, set[str]]:
    return {kind: set(found).difference(before[kind]) for kind, found in what_is_there().items()}


def _files(*, of_workers: bool) -> Iterator[str]:
    """What the sandboxes of this process could have made in the folders for temporary files: in their workers' own
    folders, or anywhere else."""
    user = own_folder.next_user()
    for folder in _TEMPORARY:
        for path, owner in _below(folder):
            of_process = _WORKERS_FOLDER.search(path)
            if bool(of_process) is not of_workers:
                continue
            ours = owner == user if os.getuid() else owner // _USERS_OF_A_PROCESS == user // _USERS_OF_A_PROCESS
            if (int(of_process[1]) == os.getpid()) if of_process else ours:
                yield path


def _below(folder: Path) -> Iterator[tuple[str, int]]:
    for root, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(root, name)
            try:
                yield str(path), path.lstat().st_uid
            except OSError:
                continue


def _unused_cgroups() -> Iterator[str]:
    """Those that hold no process, as one at work does. One that another process made is that one's to take away; where
    it was killed, the next one's."""
    for root, _folders, files in os.walk(_CGROUPS):
        of_process = _OWNERS_CGROUP.search(root)
        ours = of_process is None or int(of_process[1]) == os.getpid()
        if ours and "cgroup.procs" in files:
            try:
                if not Path(root, "cgroup.procs").read_text().strip():
                    yield root
            except OSError:
                continue


def _system_v() -> Iterator[str]:
    for kind in ("shm", "msg", "sem"):
        table = Path("/proc/sysvipc") / kind
        if table.exists():
            for line in table.read_text().splitlines()[1:]:
                yield f"{kind} {line.split()[1]}"
