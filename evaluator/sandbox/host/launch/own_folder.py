"""The second way to start a zygote, without user namespaces: as another user if we are root.

For machines that allow no user namespaces; never chosen where the first way can be proved.

Each worker has a folder among the system's temporary files; each completion gets a new folder in it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from evaluator.sandbox.guest import folders
from evaluator.sandbox.host.limits.process_table import is_left, mark

HOME, PACKAGES = "work", "packages"
NOBODY = 65534

_PREFIX = "rollscope-sandbox-"
_FIRST_USER, _USERS_OF_A_PROCESS = 1_800_000_000, 64
_counter = itertools.count()
_PATIENCE_S = 1.0
_MEMORY, _ROOM = Path("/dev/shm"), 2**30  # noqa: S108


def next_user() -> int:
    """The user that runs a worker's completions: an unused user id if we are root, else our own.

    Each worker has its own, because the kernel counts processes per user.
    """
    if os.geteuid() != 0:
        return os.geteuid()
    if not has_users():
        return NOBODY
    return _FIRST_USER + os.getpid() * _USERS_OF_A_PROCESS + next(_counter) % _USERS_OF_A_PROCESS


def is_new(user: int) -> bool:
    """Whether it is one of our unused user ids."""
    return user >= _FIRST_USER


@cache
def has_users() -> bool:
    """Whether there are unused user ids: only for root, and not in a user namespace (rootless container) with few ids.

    Otherwise the kernel counts threads over everything that the user runs.
    """
    if os.geteuid() != 0:
        return False
    try:
        lines = Path("/proc/self/uid_map").read_text("ascii").splitlines()
    except OSError:
        return True
    ranges = (tuple(map(int, line.split())) for line in lines)
    return any(first <= _FIRST_USER and first + count > _FIRST_USER + 2**28 for first, _, count in ranges)


def make(user: int, packages: Iterable[Path]) -> Path:
    """Makes a worker's folder, owned by `user`, in which its zygote makes a new `HOME` for each completion.

    Its `PACKAGES` has links to these packages only.
    """
    _sweep_once()
    folder = Path(tempfile.mkdtemp(dir=_base(), prefix=f"{_PREFIX}{mark()}"))
    links = folder / PACKAGES
    links.mkdir()
    for package in packages:
        (links / package.name).symlink_to(package)
    if user != os.geteuid():
        os.chown(links, user, user)
        os.chown(folder, user, user)
    return folder


@cache
def _base() -> Path:
    """Where these folders are made: in memory if there is room, because a disk is slow to delete many files."""
    try:
        room = os.statvfs(_MEMORY)
        roomy = room.f_bavail * room.f_frsize >= _ROOM
    except OSError:
        roomy = False
    return _MEMORY if roomy and os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def remove(folder: Path) -> None:
    """Removes a worker's folder; its zygote and all that ran there have ended or are ending."""
    deadline = time.monotonic() + _PATIENCE_S
    while folder.exists():
        try:
            folders.remove(str(folder))
        except OSError:  # the last process is still ending
            if time.monotonic() > deadline:
                shutil.rmtree(folder, ignore_errors=True)
                return


@cache
def _sweep_once() -> None:
    """Removes the folders of processes that were killed with their zygotes."""
    places = {_MEMORY, Path(tempfile.gettempdir())}
    for folder in [folder for place in places for folder in place.glob(f"{_PREFIX}*")]:
        with contextlib.suppress(OSError):  # its owner may be removing it, too
            owner = folder.lstat().st_uid
            if (owner == os.geteuid() or is_new(owner)) and is_left(folder.name.removeprefix(_PREFIX)):
                folders.remove(str(folder))
