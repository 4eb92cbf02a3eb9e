"""The second way to start a zygote: where user namespaces are refused, as another user when we are root.

Each worker has a folder among the system's temporary files; each completion gets a new one in there.
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

from evaluator.sandbox.inside import folders
from evaluator.sandbox.limits.process_table import started

HOME, PACKAGES = "work", "packages"
NOBODY = 65534

_PREFIX = "rollscope-sandbox-"
_FIRST_USER, _USERS_OF_A_PROCESS = 1_800_000_000, 64
_counter = itertools.count()
_PATIENCE_S = 1.0
_MEMORY, _ROOM = Path("/dev/shm"), 2**30  # noqa: S108


def next_user() -> int:
    """Who runs a worker's completions: as root a user whom nobody else on this machine is, else ourselves.

    A number of its own, so that the limit of processes, which counts a user's, counts this worker's alone.
    """
    if os.geteuid() != 0:
        return os.geteuid()
    if not has_users():
        return NOBODY
    return _FIRST_USER + os.getpid() * _USERS_OF_A_PROCESS + next(_counter) % _USERS_OF_A_PROCESS


def is_new(user: int) -> bool:
    """Whether this is a user whom nobody else is."""
    return user >= _FIRST_USER


@cache
def has_users() -> bool:
    """Whether there are such users: for root, and not in a user namespace (rootless containers) with few numbers.

    Elsewhere the kernel counts a user's threads for all that this user runs.
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
    """A worker's folder, `user`'s own, in which its zygote makes a new `HOME` for each completion.

    Its `PACKAGES` shows these packages and no other that stands beside them.
    """
    _sweep_once()
    folder = Path(tempfile.mkdtemp(dir=_base(), prefix=f"{_PREFIX}{os.getpid()}-{started(os.getpid())}-"))
    shown = folder / PACKAGES
    shown.mkdir()
    for package in packages:
        (shown / package.name).symlink_to(package)
    if user != os.geteuid():
        os.chown(shown, user, user)
        os.chown(folder, user, user)
    return folder


@cache
def _base() -> Path:
    """Where these folders are made: in memory where there is room, for a disk takes long to forget many files."""
    try:
        told = os.statvfs(_MEMORY)
        roomy = told.f_bavail * told.f_frsize >= _ROOM
    except OSError:
        roomy = False
    return _MEMORY if roomy and os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def remove(folder: Path) -> None:
    """Removes a worker's folder; its zygote has ended, and what ran there ends with it."""
    deadline = time.monotonic() + _PATIENCE_S
    while folder.exists():
        try:
            folders.remove(str(folder))
        except OSError:  # the last process is just ending
            if time.monotonic() > deadline:
                shutil.rmtree(folder, ignore_errors=True)
                return


@cache
def _sweep_once() -> None:
    """Removes the folders of processes that were killed with their zygotes."""
    places = {_MEMORY, Path(tempfile.gettempdir())}
    for folder in [found for place in places for found in place.glob(f"{_PREFIX}*")]:
        number, _, rest = folder.name.removeprefix(_PREFIX).partition("-")
        then = rest.partition("-")[0]
        owner = folder.lstat().st_uid
        if number.isdigit() and (owner == os.geteuid() or is_new(owner)) and started(int(number)) != then:
            with contextlib.suppress(OSError):
                folders.remove(str(folder))
