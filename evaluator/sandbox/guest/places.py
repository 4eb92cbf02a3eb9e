"""The folders that a program may write to. Set once, in the zygote, before the first fork."""

from __future__ import annotations

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
