"""One SELECT typed by a user, in a process of its own with limits of time, memory and rows.

DuckDB's own limits do not hold everything: `length(repeat('x', 3000000000))` is computed while the statement is
planned, takes 6 GB and can't be interrupted. A process can be killed, and its memory is limited by the kernel.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select as select_readable
from typing import IO, Final, Literal

import msgspec

from evaluator.extras import needs
from evaluator.formats import known_formats
from evaluator.runs.export import write_batches
from evaluator.runs.files import QueryError
from evaluator.runs.reading import Run, one_line, select
from evaluator.runs.scanning import start_main
from evaluator.runs.ungraded import IndexedFile, Opening

with needs("runs", "a run needs pyarrow and duckdb"):
    import duckdb
    import pyarrow as pa

Form = Literal["arrow", "csv", "jsonl", "parquet"]

_AT_ONCE: Final = 2
"""Statements of all callers; further ones wait."""
_ROOM_MB: Final = 256
"""For what the process has besides DuckDB's tables: the parts that are read, the rows that are written."""
_BATCH_ROWS: Final = 500
_POLL_S: Final = 0.05
_TOLD_EVERY_S: Final = 0.25
_STARTS_WITHIN_S: Final = 30
_OUT_OF_MEMORY: Final = "Out of Memory"
_GRACE_S: Final = 5
"""After it a process ends itself whose caller is gone."""
_NICE: Final = 5
_turns = threading.BoundedSemaphore(_AT_ONCE)


class Bounds(msgspec.Struct, frozen=True):
    """What a statement may use."""

    seconds: float = 10.0
    memory_mb: int = 512
    rows: int = 10_000
    result_mb: int = 64
    """Of the file that is written."""


class Written(msgspec.Struct, frozen=True):
    """The rows that a statement gave."""

    rows: int
    more: bool
    """Whether it has more rows than were written."""


class _Question(msgspec.Struct, frozen=True):
    run: str | Opening
    """A run's directory, or rollouts that were not graded."""
    sql: str
    to: str
    form: Form
    bounds: Bounds


_Answer = Written | str
"""A text says what is wrong."""


def query(
    run: Run,
    sql: str,
    to: Path,
    *,
    form: Form = "arrow",
    bounds: Bounds | None = None,
    on_wait: Callable[[float], object] | None = None,
) -> Written:
    """Write the rows of a statement over a run to a file: as an Arrow stream, CSV, JSON lines or Parquet.

    `on_wait`: called a few times a second with the seconds since the statement began, 0 while it waits for its turn.
    What it raises ends the statement. Raises `QueryError` with one line for a statement that can't be used, fails, or
    exceeds a limit.
    """
    bounds = bounds or Bounds()
    tell = on_wait or (lambda _: None)
    while not _turns.acquire(timeout=_TOLD_EVERY_S):
        tell(0.0)
    try:
        named = run.opening if isinstance(run, IndexedFile) else str(run.path.resolve())
        question = _Question(named, sql, str(to), form, bounds)
        return _answer(_output(msgspec.json.encode(question), bounds, tell), bounds)
    finally:
        _turns.release()


def _output(question: bytes, bounds: Bounds, tell: Callable[[float], object]) -> bytes:
    """What the process writes; b"" if it died. Raises `QueryError` when its time is over."""
    process = start_main("evaluator.runs.bounded_query", stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(question)
        process.stdin.close()
        return _read(process.stdout.fileno(), bounds, tell)
    except BrokenPipeError:
        return b""
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _read(output: int, bounds: Bounds, tell: Callable[[float], object]) -> bytes:
    """All that comes, the first of which says that the process is ready: from then on the time counts."""
    parts: list[bytes] = []
    began = told = time.monotonic()
    ready = None
    while True:
        if select_readable([output], [], [], _POLL_S)[0]:
            parts.append(os.read(output, 1 << 16))
            if not parts[-1]:
                return b"".join(parts)
        now = time.monotonic()
        ready = now if parts and ready is None else ready
        if now - (began + _STARTS_WITHIN_S if ready is None else ready) > bounds.seconds:
            raise QueryError(
                f"the statement was stopped after {bounds.seconds:g} s, the limit: read fewer rows or columns"
            )
        if now - told > _TOLD_EVERY_S:
            told = now
            tell(now - began)


def _answer(output: bytes, bounds: Bounds) -> Written:
    try:
        answer: _Answer = msgspec.json.decode(output, type=_Answer)
    except msgspec.DecodeError:  # killed by a limit of memory that DuckDB does not count
        answer = _too_large(bounds)
    if isinstance(answer, str):
        raise QueryError(answer)
    return answer


def _too_large(bounds: Bounds) -> str:
    return f"the statement needs more than {bounds.memory_mb} MB, the limit: read fewer rows or columns"


def main() -> None:
    """The process: reads a question, writes an answer."""
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=_Question)
    sys.stdout.buffer.write(b" ")  # ready; JSON may begin with a blank
    sys.stdout.buffer.flush()
    signal.alarm(int(question.bounds.seconds) + _GRACE_S)
    os.nice(_NICE)
    answer: _Answer
    try:
        answer = _written(question)
    except MemoryError:
        answer = _too_large(question.bounds)
    except Exception as error:  # of DuckDB, of a file, or of a value whose type a file can't have
        said = one_line(error) if isinstance(error, duckdb.Error) else " ".join(str(error).split())
        answer = _too_large(question.bounds) if _OUT_OF_MEMORY in said else said
    sys.stdout.buffer.write(msgspec.json.encode(answer))


def _written(question: _Question) -> Written:
    bounds = question.bounds
    with _opened(question.run).connect(memory_mb=bounds.memory_mb, threads=1, spills=False) as connection:
        _limit_memory(bounds)
        relation = select(connection, question.sql).limit(bounds.rows + 1)
        reader = relation.to_arrow_reader(_BATCH_ROWS)
        with Path(question.to).open("wb") as file:
            rows = _Rows(reader, bounds, file)
            count = write_batches(rows.batches(), reader.schema, file, question.form)
        return Written(count, rows.more)


def _opened(run: str | Opening) -> Run:
    if isinstance(run, str):
        return Run.open(run)
    known_formats()  # so that what reading a row needs is loaded before the memory is limited
    return IndexedFile.of(*run)


def _limit_memory(bounds: Bounds) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ((bounds.memory_mb + _ROOM_MB) << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _Rows:
    """The batches of a result up to its limits."""

    def __init__(self, reader: pa.RecordBatchReader, bounds: Bounds, file: IO[bytes]) -> None:
        self._reader = reader
        self._bounds = bounds
        self._file = file
        self.more = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        left = self._bounds.rows
        for batch in self._reader:
            if self.more:
                return
            self.more = batch.num_rows > left
            yield batch.slice(0, left)
            left -= min(left, batch.num_rows)
            if self._file.tell() >= self._bounds.result_mb << 20:
                self.more = True
