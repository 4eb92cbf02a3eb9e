"""Removes a folder that a hostile program has filled: any depth, any permissions, symbolic links not followed.

The programs that could write to it must have ended.
"""

from __future__ import annotations

import contextlib
import os

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(path: str) -> None:
    """Removes the folder with all its contents, if it exists. Raises `OSError`."""
    with contextlib.suppress(FileNotFoundError):
        empty(path)
        os.rmdir(path)


def empty(path: str) -> None:
    """Removes the folder's contents. Raises `OSError`."""
    folder = os.open(path, _OPEN)
    try:
        moved = 0
        while names := os.listdir(folder):
            for name in names:
                moved = _remove(folder, name, moved)
    finally:
        os.close(folder)


def _remove(folder: int, name: str, moved: int) -> int:
    """Removes one entry; moves the folders in it up, so that no depth is too deep."""
    try:
        os.unlink(name, dir_fd=folder)
        return moved
    except OSError:  # a folder
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
        except OSError:  # that name is taken
            if moved > _MOST:
                raise


_MOST = 10**6
