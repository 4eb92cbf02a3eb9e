"""Scans the spans of a file in processes of their own, so that all cores read; results come in order.

Each process is started by exec, gets a span and answers with its columns as an Arrow stream. A small file is scanned
here: starting a process would take longer.
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
import pyarrow as pa

from evaluator.index.rows_of import RowReader
from evaluator.index.scanning import Found, Scanned, Span, scan

SPAN_BYTES: Final = 4 << 20
ALONE_BYTES: Final = 12 << 20
"""Up to this much is scanned by the calling process."""
_MOST_WORKERS: Final = 8
_AHEAD: Final = 2
"""Spans per worker that are read before their turn."""
_FOUND: Final = b"found"
_ERROR: Final = b"error"


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


def start_main(module: str, *, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """The `main` of a module of ours in a process, with pipes to its input and from its output."""
    home = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {module} import main; main()"],
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
        self._process = start_main("evaluator.index.workers")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders = self._process.stdin
        self._answers = self._process.stdout

    def scan(self, span: Span) -> Scanned:
        try:
            self._orders.write(msgspec.json.encode((self._reader, span)) + b"\n")
            self._orders.flush()
            table = pa.ipc.open_stream(self._answers).read_all()
        except (OSError, pa.ArrowInvalid):
            raise OSError(f"{span.path}: the process that reads it ended early: is there enough memory?") from None
        told = table.schema.metadata
        if _ERROR in told:
            raise OSError(told[_ERROR].decode())
        return Scanned(table, msgspec.json.decode(told[_FOUND], type=Found))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._orders.close()
        self._answers.close()


def main() -> None:
    """The process: orders on its input, each answered by an Arrow stream whose metadata has the rest."""
    for line in sys.stdin.buffer:
        reader, span = msgspec.json.decode(line, type=tuple[RowReader, Span])
        try:
            table, found = scan(reader, span)
            answer = table.replace_schema_metadata({_FOUND: msgspec.json.encode(found)})
        except OSError as error:
            answer = pa.table({}).replace_schema_metadata({_ERROR: str(error)})
        with pa.ipc.new_stream(sys.stdout.buffer, answer.schema) as writer:
            writer.write_table(answer)
        sys.stdout.buffer.flush()
