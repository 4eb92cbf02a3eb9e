"""Files in memory that serve as a program's stdin, stdout and stderr."""

from __future__ import annotations

import os

from evaluator.sandbox.host.outcomes import Stream


class MemoryFile:
    """An unnamed file that the parent writes and reads, also after the program's end."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.memfd_create("stream", os.MFD_CLOEXEC), "r+b", buffering=0)
        self.descriptor = self._file.fileno()

    def replace(self, content: bytes) -> None:
        os.ftruncate(self.descriptor, 0)
        view = memoryview(content)
        offset = 0
        while offset < len(view):
            offset += os.pwrite(self.descriptor, view[offset:], offset)

    def read(self, most: int) -> Stream:
        """The first `most` bytes, and the size."""
        size = os.fstat(self.descriptor).st_size
        if not size:
            return Stream()
        return Stream(os.pread(self.descriptor, min(size, most), 0), size)

    def close(self) -> None:
        self._file.close()
