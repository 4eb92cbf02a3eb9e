"""Removes a folder that a hostile program has filled: of any depth, with any rights, symbolic links not followed.

The programs that could write to it must have ended.
"""

from __future__ import annotations

import contextlib
import os

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(path: str) -> None:
    """Removes the folder with all that is in it; one that is not there is no error. Raises `OSError`."""
    with contextlib.suppress(FileNotFoundError):
        folder = os.open(path, _OPEN)
        try:
            moved = 0
            while names := os.listdir(folder):
                for name in names:
                    moved = _remove(folder, name, moved)
        finally:
            os.close(folder)
        os.rmdir(path)


def _remove(folder: int, name: str, moved: int) -> int:
    """Removes one entry; what is in a folder in there is moved up, so that no depth is too deep."""
    try:
        os.unlink(name, dir_fd=folder)
        return moved
    except OSError:  # a folder: a link or a file would have gone
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=folder)
            return moved
        os.chmod(name, 0o700, dir_fd=folder)
    inner = os.open(name, _OPEN, dir_fd=folder)
    try:
        for each in os.listdir(inner):
            try:
                os.unlink(each, dir_fd=inner)
            except OSError:
                os.chmod(each, 0o700, dir_fd=inner)
                moved = _move_up(inner, each, folder, moved)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)
    return moved


def _move_up(inner: int, name: str, folder: int, moved: int) -> int:
    while True:
        moved += 1
        try:
            os.rename(name, f".{moved}", src_dir_fd=inner, dst_dir_fd=folder)
            return moved
        except OSError:  # something of that name is there
            if moved > _MOST:
                raise


_MOST = 10**6
