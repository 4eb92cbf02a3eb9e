"""Scans the spans of a file in processes of their own, so that all cores read; results come in order.

Each process is started by exec (`python -m evaluator.index.worker_process`), gets a span and answers with its columns
as an Arrow stream. A small file is scanned here: starting a process would take longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec

from evaluator.extras import needs
from evaluator.index.rows_of import RowReader
from evaluator.index.scanning import Found, Scanned, Span, scan

with needs("runs", "an index needs pyarrow and duckdb"):
    import pyarrow as pa

SPAN_BYTES: Final = 4 << 20
ALONE_BYTES: Final = 12 << 20
"""Up to this much is scanned by the calling process."""
_MOST_WORKERS: Final = 8
_AHEAD: Final = 2
"""Spans per worker that are read before their turn."""


class WorkerError(OSError):
    """A process that scans ended early. The message is one line."""


class Order(msgspec.Struct):
    """What a process has to scan."""

    reader: RowReader
    span: Span


class Answer(msgspec.Struct):
    """What it found, before the columns' bytes."""

    found: Found
    bytes: int
    error: str = ""


def scans(reader: RowReader, file: int, path: str, start: int, end: int) -> Iterator[Scanned]:
    """The rows between two places of a file, in order. `start` is the beginning of a row. Raises `OSError`."""
    spans = _spans(file, path, start, end)
    if end - start <= ALONE_BYTES:
        for span in spans:
            yield scan(reader, span)
        return
    count = max(1, min(len(os.sched_getaffinity(0)), _MOST_WORKERS))
    workers = [_Worker(reader) for _ in range(count)]
    free = deque(workers)
    try:
        with ThreadPoolExecutor(count) as pool:
            waiting: deque[Future[Scanned]] = deque()
            for span in spans:
                waiting.append(pool.submit(_scanned, free, span))
                if len(waiting) >= _AHEAD * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        for worker in workers:
            worker.close()


def _spans(file: int, path: str, start: int, end: int) -> Iterator[Span]:
    for at in range(start, end, SPAN_BYTES):
        yield Span(file, path, at, min(at + SPAN_BYTES, end), exact=at == start)


def _scanned(free: deque[_Worker], span: Span) -> Scanned:
    worker = free.pop()
    try:
        return worker.scan(span)
    finally:
        free.append(worker)


def start_module(name: str, *, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """A module of ours as a process, with pipes to its input and from its output."""
    home = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-P", "-m", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))},
        start_new_session=True,
    )


class _Worker:
    """One process. It ends when its input is closed, so also when we are killed."""

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader
        self._process = start_module("evaluator.index.worker_process")

    def scan(self, span: Span) -> Scanned:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        ended = WorkerError(f"{span.path}: the process that reads it ended early: is there enough memory?")
        try:
            stdin.write(msgspec.json.encode(Order(self._reader, span)) + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise ended from None
        head = stdout.readline()
        if not head.endswith(b"\n"):
            raise ended
        answer = msgspec.json.decode(head, type=Answer)
        if answer.error:
            raise OSError(answer.error)
        columns = stdout.read(answer.bytes)
        if len(columns) < answer.bytes:
            raise ended
        with pa.ipc.open_stream(columns) as stream:
            return Scanned(stream.read_all(), answer.found)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
