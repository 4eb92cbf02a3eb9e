"""The processes below this one, as `/proc` lists them."""

import contextlib
import os
import signal
from pathlib import Path

from tests.waiting import wait_until


def descendants(of: int | None = None) -> dict[int, str]:
    """Number and name of each process that this one, or one that it started, has started; the dead left out."""
    children: dict[int, list[tuple[int, str, str]]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                head, _, rest = (folder / "stat").read_text().rpartition(")")
            except OSError:
                continue
            state, parent = rest.split()[:2]
            children.setdefault(int(parent), []).append((int(folder.name), head.partition("(")[2], state))
    found: dict[int, str] = {}
    waiting = [of or os.getpid()]
    while waiting:
        for number, name, state in children.get(waiting.pop(), []):
            waiting.append(number)
            if state != "Z":
                found[number] = name
    return found


def kill_descendants() -> None:
    """Ends them all, also those that became ours when their own parents ended, and reaps them."""
    wait_until(_killed, "the end of the processes below this one")


def _killed() -> bool:
    below = descendants()
    for number in below:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    _reap()
    return not below


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return
