"""Ends what a test run has started, once the run is over or was killed: servers, browsers, workers.

`conftest.py` starts it with a pipe as stdin, which closes with the last process that runs tests, however that ends, and
with a mark that every process of the run has in its environment.
"""

import os
import signal
import sys
from pathlib import Path

MARK = "ROLLSCOPE_TEST_RUN"


def marked(mark: str) -> set[int]:
    """The processes that have the mark in their environment, but for this one."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue  # it has ended, or is not this user's
            if f"{MARK}={mark}".encode() in environment.split(b"\0"):
                found.add(int(folder.name))
    return found


def end(mark: str) -> None:
    """Kills them, and those that they start meanwhile."""
    while processes := marked(mark):
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.buffer.read()
    end(sys.argv[1])
