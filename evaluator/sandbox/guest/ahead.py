"""Answers to several inputs that the parent sent together: they go to a file, so that neither side waits for the other.

The parent reads the file when the process has said that it is done, or when its time is up: then the file shows which
input it was busy with. What a test case wrote to stdout and stderr goes to the file with its answer.
"""

from __future__ import annotations

import os
import resource
import struct
import time

from evaluator.sandbox.guest import channel

RECORD = struct.Struct("!cIIIQdd")
"""Kind; length of the answer, of stdout, of stderr; memory in KiB; wall and CPU seconds of this input."""

PAUSE_S = 0.05
"""After so long the rest is run one by one, so that the time of slow test cases is measured for each."""

_BROKEN = 70


_write, _put, _read, _status, _cut = os.write, os.pwrite, os.pread, os.fstat, os.ftruncate
_leave, _usage, _wall, _cpu = os._exit, resource.getrusage, time.monotonic, time.process_time
"""The completion can replace them in their modules, but not here."""


class Answers:
    """Writes the file."""

    def __init__(self) -> None:
        self._began = self._wall = self._cpu = 0.0

    def begin(self) -> None:
        self._began = self._wall = _wall()
        self._cpu = _cpu()

    def give(self, stdin: bytes) -> None:
        """Makes this the contents of descriptor 0."""
        try:
            _cut(0, 0)
            if _put(0, stdin, 0) != len(stdin):
                _leave(_BROKEN)
        except OSError:
            _leave(_BROKEN)

    def add(self, kind: bytes, answer: bytes) -> bool:
        """Adds the answer to one input. Returns whether there is time for the next.

        Ends the process if the file is full: the parent then runs all of them one by one.
        """
        memory = _usage(resource.RUSAGE_SELF).ru_maxrss
        try:
            stdout, stderr = _written(1), _written(2)
            wall, cpu = _wall(), _cpu()
            sizes = len(answer), len(stdout), len(stderr)
            record = RECORD.pack(kind, *sizes, memory, wall - self._wall, cpu - self._cpu) + answer + stdout + stderr
            if _write(channel.ANSWERS_DESCRIPTOR, record) != len(record):
                _leave(_BROKEN)
        except OSError:
            _leave(_BROKEN)
        self._wall, self._cpu = wall, cpu
        return wall - self._began < PAUSE_S


def _written(descriptor: int) -> bytes:
    """What is in this file, which is empty afterwards."""
    size = _status(descriptor).st_size
    if not size:
        return b""
    data = _read(descriptor, size, 0)
    _cut(descriptor, 0)
    return data
