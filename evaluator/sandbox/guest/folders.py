"""The folders that a program may write to, and how they are emptied, whatever it left in them."""

from __future__ import annotations

import contextlib
import os

home = "/tmp"  # noqa: S108 - the sandbox's own
"""The program's own folder, in which it starts."""

FILES_MB, SHARED_MEMORY_MB = 64, 16
"""Size of a completion's own /tmp and /dev/shm."""

writable = ["/tmp", "/dev/shm"]  # noqa: S108


def settle(own_home: str, all_writable: list[str]) -> None:
    """Sets these folders."""
    global home  # noqa: PLW0603 - one zygote, one place
    home = own_home
    writable[:] = all_writable


_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(path: str) -> None:
    """Removes a folder with all its contents, if it exists. Raises `OSError`.

    Whatever a hostile program left there: any depth, any permissions, symbolic links not followed. It must have ended.
    """
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
