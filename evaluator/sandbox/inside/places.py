"""Where a program may write. Set once, in the zygote, before anything is forked."""

from __future__ import annotations

home = "/tmp"  # noqa: S108 - the sandbox's own
"""The program's own folder, in which it starts."""

writable = ["/tmp", "/dev/shm"]  # noqa: S108


def settle(own_home: str, all_writable: list[str]) -> None:
    """Says where these are."""
    global home  # noqa: PLW0603 - one zygote, one place
    home = own_home
    writable[:] = all_writable
