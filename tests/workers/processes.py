"""Finding the sandboxes' processes of this one, as a user would with `ps`."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from evaluator.workers import pool
from tests.waiting import wait_until

_others: set[int] = set()
"""Sandboxes that fixtures of other tests keep in this process."""


def _families() -> dict[int, list[int]]:
    """The children of each process of this machine, without those that have ended, and without pytest's lifeline."""
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z" and not (int(parent) == os.getpid() and _is_lifeline(folder)):
                    found.setdefault(int(parent), []).append(int(folder.name))
    return found


def _is_lifeline(folder: Path) -> bool:
    return b"lifeline.py" in (folder / "cmdline").read_bytes()


def children(of: int) -> list[int]:
    return _families().get(of, [])


def descendants(of: int) -> set[int]:
    """All processes below this one."""
    families = _families()
    found, left = set[int](), [of]
    while left:
        below = families.get(left.pop(), [])
        found.update(below)
        left += below
    return found


def set_apart() -> None:
    """What runs now is no test's business from here on. What single calls keep warm is ended: it would be found too."""
    pool.close()
    _others.update(sandboxes())


def workers(of: int | None = None) -> list[int]:
    """The worker processes of a process, else of this one."""
    found = []
    for child in children(os.getpid() if of is None else of):
        with contextlib.suppress(OSError):
            if b"worker_process" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def sandboxes() -> list[int]:
    """The outer process of each bubblewrap below this process, but for those set apart."""
    below = [number for number in descendants(os.getpid()) if name_of(number) == "bwrap"]
    inner = {child for number in below for child in children(number)}
    return [number for number in below if number not in inner and number not in _others]


def name_of(number: int) -> str:
    try:
        return Path(f"/proc/{number}/comm").read_text().strip()
    except OSError:
        return ""


def kill(numbers: Collection[int]) -> None:
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def runs_code(zygote: int) -> bool:
    """Whether it has more than the one process that waits for its order, where completions share namespaces."""
    return len(children(zygote)) > 1


def zygotes_below(number: int | None = None) -> list[int]:
    """The warm interpreters that a process, else this one, started in whichever way."""
    found = []
    grading = workers(number)
    for child in children(os.getpid() if number is None else number):
        is_zygote = name_of(child).startswith("python") and child not in grading
        found += [child] if is_zygote else zygotes_below(child)
    return found


def busy_zygotes() -> list[int]:
    return [zygote for zygote in zygotes_below() if children(zygote)]


@contextlib.contextmanager
def killing(find: Callable[[], list[int]], times: int, then: Callable[[], object] = lambda: True) -> Iterator[None]:
    """Kills what is found, so often, each once, by the kernel's own SIGKILL, as when memory is short.

    After that it calls `then` until that is true, or the end."""
    end = threading.Event()

    def work() -> None:
        killed: set[int] = set()  # what dies is still seen for a moment
        for _ in range(times):
            wait_until(lambda: end.is_set() or set(find()) - killed, "nothing to kill")
            if end.is_set():
                return
            victims = set(find()) - killed
            kill(victims)
            killed.update(victims)
        wait_until(lambda: end.is_set() or then(), "it does not end")

    killer = threading.Thread(target=work, daemon=True)
    killer.start()
    try:
        yield
    finally:
        end.set()
        killer.join()


WAITING = """
import signal, time
told = []
signal.signal(signal.SIGCONT, lambda *_: told.append(1))
while not told: time.sleep(0.01)
"""
"""Runs without end until it is told to go on."""


def waiting() -> list[int]:
    """The processes below this one that have a handler for SIGCONT: they run the completion."""
    found = []
    for number in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            caught = Path(f"/proc/{number}/status").read_text().partition("SigCgt:")[2].split()[0]
            found += [number] if int(caught, 16) >> signal.SIGCONT - 1 & 1 else []
    return found


def tell() -> None:
    for number in waiting():
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGCONT)


def wait_until_none(find: Callable[[], object]) -> list[int]:
    """Waits until `find` finds nothing, which is returned. Fails if that never comes."""
    wait_until(lambda: not find(), "something is left")
    return []


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
