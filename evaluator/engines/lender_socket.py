"""Where processes that lend their hands (`lending`) and those that borrow some (`borrowed_hand`) meet."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from functools import cache
from pathlib import Path
from typing import Final

from evaluator.engines.room import SHARED_FOLDER, shared_folder

GREETING: Final = b"rollscope"
"""What a lender sends first."""
_PREFIX: Final = "lends-"
_ANSWERS_WITHIN_S: Final = 1.0


def lender_socket() -> Path | None:
    """The same for processes that grade alike, with the same code, Python, cores and cache of grades. None: nowhere."""
    folder = shared_folder()
    return folder / _name() if folder is not None else None


def lender() -> Path | None:
    """The socket, if there is one."""
    try:
        names = os.listdir(SHARED_FOLDER)  # noqa: PTH208 - before each call
    except OSError:
        return None
    path = lender_socket() if any(name.startswith(_PREFIX) for name in names) else None
    return path if path is not None and path.exists() else None


def abandoned(folder: Path) -> list[Path]:
    """The sockets there at which nobody answers: killed servers leave theirs."""
    return [path for path in folder.glob(f"{_PREFIX}*") if not _answers(path)]


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWERS_WITHIN_S)
        try:
            connection.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # it is busy
            return True
    return True


def _name() -> str:
    cores = sorted(os.sched_getaffinity(0))
    return _PREFIX + _digest((sys.executable, cores, *map(os.environ.get, ("HOME", "XDG_CACHE_HOME")), _files()))


@cache
def _files() -> str:
    """A digest of this package's sizes and times: to read them would take longer than most completions run."""
    folders = os.walk(Path(__file__).parents[1])
    paths = sorted(f"{folder}/{name}" for folder, _, names in folders for name in names if name.endswith(".py"))
    states = [Path(path).stat() for path in paths]
    return _digest([(path, state.st_size, state.st_mtime_ns) for path, state in zip(paths, states, strict=True)])


def _digest(value: object) -> str:
    return hashlib.blake2b(repr(value).encode(), digest_size=12).hexdigest()
