"""Reads the rows of a file of rollouts into the columns of its index: one pass over its bytes, without keeping a text.

A large file is read in spans by processes of their own, so that all cores read; results come in order. Each process is
started by exec. A small file, and the first span of a large one, is read here: starting a process would take longer.

Where a file's own rows can't be read in place, a copy of its rollouts as JSON lines is read: of compressed files, JSON
lists and objects, Parquet, CSV and archives. To read one text of them, everything before it would have to be read. The
copy takes about the room of the unpacked file, in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import pickle
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from evaluator.extras import needs
from evaluator.formats.reading.containers import MAX_ROW_BYTES, RawRow, decoded, is_incomplete
from evaluator.formats.reading.file_layout import FileLayout, layout_of, samples_of
from evaluator.formats.reading.loader import own_number
from evaluator.formats.reading.problems import Problem, errors_in, snippet_of
from evaluator.formats.reading.registry import Role
from evaluator.formats.reading.sources import Source
from evaluator.model import Rollout, Verdict
from evaluator.recorded import recorded_grade
from evaluator.runs.parts import arrow_array

with needs("runs", "an index needs pyarrow and duckdb"):
    import pyarrow as pa
    import pyarrow.compute as pc

SPAN_BYTES: Final = 4 << 20
ALONE_BYTES: Final = 12 << 20
"""Up to this much is scanned by the calling process."""
_MOST_WORKERS: Final = 8
_AHEAD: Final = 2
"""Spans per worker that are read before their turn."""
_READ_BYTES: Final = 1 << 20
MAX_MESSAGE: Final = 500
"""Characters of a recorded message that are kept; the file has the rest."""
NOT_GRADED: Final = "not graded yet"
"""The message of rollouts that came without a grade."""

_WORD: Final = pa.dictionary(pa.int32(), pa.string())
COLUMNS: Final[dict[str, pa.DataType]] = {
    "task_id": pa.string(),
    "sample_id": pa.string(),
    "sample_index": pa.int64(),
    "group": pa.string(),
    "model": _WORD,
    "step": pa.int64(),
    "reward": pa.float64(),
    "verdict": _WORD,
    "error_message": _WORD,
    "expected_pass": pa.bool_(),
    "given_reward": pa.float64(),
    "recorded_reward": pa.float64(),
    "recorded_verdict": _WORD,
    "recorded_word": _WORD,
    "recorded_by": _WORD,
    "length": pa.int64(),
    "source_line": pa.int64(),
    "file": pa.int32(),
    "at": pa.int64(),
    "size": pa.int64(),
    "nth": pa.int32(),
    "id_hash": pa.uint64(),
}
"""Each column's name and Arrow type: what is known of a rollout without its texts, and where it is: the file's ordinal,
the row's first byte and its size, and which of the row's rollouts. `length` is in characters; `id_hash` is 0 until a
sample has an id."""


class KeptRow(msgspec.Struct, omit_defaults=True):
    """A row of the copy of a file whose rows can't be read in place."""

    line: int
    rollout: Rollout
    prompt: str = ""


_KEPT: Final = msgspec.json.Decoder(KeptRow)


class RowReader(msgspec.Struct, frozen=True):
    """How the rows of one file are read: once for the index, and again when their texts are needed."""

    path: str
    name: str
    """For messages, and for formats that read the step from it."""
    format: str
    field_map: dict[str, str] | None = None
    kept: bool = False
    """Whether the rows are `KeptRow`s."""

    def samples(self, data: bytes, line: int = 0, at: int = 0) -> tuple[list[tuple[Rollout, str]], list[Problem]]:
        """The rollouts of a row with their prompts, and what is wrong with it."""
        if self.kept:
            row = _KEPT.decode(data)
            row.rollout.line = row.line
            return [(row.rollout, row.prompt)], []
        found: list[tuple[Rollout, str]] = []
        problems: list[Problem] = []
        for item in decoded(self.name, RawRow(line, data, terminated=True, offset=at), 0):
            if isinstance(item, Problem):
                problems.append(item)
                continue
            try:
                found.extend(samples_of(_layout(self), item.fields))  # those before a wrong one stay
            except ValueError as error:  # as `load_rollouts`
                problems += [Problem(self.name, line, str(each), offset=at) for each in errors_in(error)]
        return found, problems


def _layout(reader: RowReader) -> FileLayout:
    pairs = tuple(reader.field_map.items()) if reader.field_map else None
    return _layout_of(reader.path, reader.name, reader.format, pairs)


@cache
def _layout_of(path: str, name: str, format_: str, field_map: tuple[tuple[str, str], ...] | None) -> FileLayout:
    return layout_of(Source(Path(path), name), Role.ROLLOUTS, format_, dict(field_map) if field_map else None)


class Span(NamedTuple):
    """The rows of a file that begin at `start` or later and before `end`.

    `start` need not be the beginning of a row, unless `exact`: then the row that it is in belongs to the span before.
    """

    file: int
    path: str
    start: int
    end: int
    exact: bool = False


class Found:
    """What was read besides the columns. Lines count from 1 at the span's first row."""

    def __init__(self, done: int) -> None:
        self.lines = 0
        """Line feeds."""
        self.done = done
        """The first byte that was not read: the end of the last complete row."""
        self.partial = 0
        """Bytes of a last line that is still being written."""
        self.problems: list[Problem] = []


Scanned = tuple[pa.Table, Found]


def scan(reader: RowReader, span: Span) -> Scanned:
    """The columns of a span, and what else was found. Raises `OSError`; a bad row is a problem."""
    rows: list[tuple[Any, ...]] = []
    found = Found(span.start)
    for line, at, data in _lines(span, found):
        if data.isspace():
            continue
        samples, problems = reader.samples(data, line, at)
        found.problems += problems
        for nth, (rollout, _) in enumerate(samples):
            rows.append(_values(rollout, rollout.line if reader.kept else line, (span.file, at, len(data), nth)))
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    arrays = [_array(kind, values) for kind, values in zip(COLUMNS.values(), columns, strict=True)]
    return pa.table(arrays, names=list(COLUMNS)), found


def _values(rollout: Rollout, line: int, place: tuple[int, int, int, int]) -> tuple[Any, ...]:
    """One row, in the order of `COLUMNS`."""
    index, sample_id = rollout.sample_index, rollout.sample_id
    if index is None and sample_id:
        index = own_number(sample_id)
    verdict, reward, message = recorded_grade(rollout)
    if reward is not None and not math.isfinite(reward):
        verdict, reward = Verdict.UNKNOWN, None
    if verdict is Verdict.UNKNOWN and rollout.recorded_verdict is None and rollout.given_reward is None:
        message = NOT_GRADED
    return (
        rollout.task_id, sample_id, index, rollout.group, rollout.model, rollout.step, reward, verdict,
        message[:MAX_MESSAGE] if message else None, rollout.expected_pass, rollout.given_reward, rollout.given_reward,
        rollout.recorded_verdict, rollout.recorded_word, rollout.recorded_by, len(rollout.completion), line, *place,
        id_hash(sample_id) if sample_id else 0,
    )  # fmt: skip


def _array(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return arrow_array(values, kind.value_type).dictionary_encode()
    return arrow_array(values, kind)


def _lines(span: Span, found: Found) -> Iterator[tuple[int, int, bytes]]:
    """Each row's line, first byte, and bytes. A last line without a line feed is one if it is complete."""
    with Path(span.path).open("rb", buffering=_READ_BYTES) as file:
        at = span.start
        if at and not span.exact:
            file.seek(at - 1)
            at += _through_line(file) - 1  # a line that begins at `start` is ours
        file.seek(at)
        found.done = at
        while at < span.end:
            data = file.readline(MAX_ROW_BYTES + 1)
            size, ends = len(data), data.endswith(b"\n")
            if not data:
                return
            if not ends and size > MAX_ROW_BYTES:
                size += _through_line(file)
                limit = f"the limit of {MAX_ROW_BYTES // (1024 * 1024)} MiB per row"
                message = f"the row has {size / 1e6:.1f} MB, more than {limit}: it is skipped"
                found.problems.append(Problem(span.path, found.lines + 1, message, snippet_of(data), offset=at))
                ends = True
            elif not ends and is_incomplete(data):
                found.partial = size
                return
            else:
                yield found.lines + 1, at, data
            found.lines += ends
            at += size
            found.done = at


def _through_line(file: IO[bytes]) -> int:
    """How many bytes there are up to the next line feed, after which the file is read on."""
    size = 0
    while data := file.readline(_READ_BYTES):
        size += len(data)
        if data.endswith(b"\n"):
            break
    return size


def scans(reader: RowReader, file: int, path: str, start: int, end: int) -> Iterator[Scanned]:
    """The rows between two places of a file, in order. `start` is the beginning of a row. Raises `OSError`."""
    starts = range(start, end, SPAN_BYTES)
    spans = (Span(file, path, at, min(at + SPAN_BYTES, end), exact=at == start) for at in starts)
    if end - start <= ALONE_BYTES:
        for span in spans:
            yield scan(reader, span)
        return
    count = max(1, min(len(os.sched_getaffinity(0)), _MOST_WORKERS))
    workers = [_Worker() for _ in range(count)]
    free = deque(workers)
    try:
        yield scan(reader, next(spans))  # while they start: a page waits for the first rows
        with ThreadPoolExecutor(count) as pool:
            waiting: deque[Future[Scanned]] = deque()
            for span in spans:
                waiting.append(pool.submit(_scanned, free, reader, span))
                if len(waiting) >= _AHEAD * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        for worker in workers:
            worker.close()


def _scanned(free: deque[_Worker], reader: RowReader, span: Span) -> Scanned:
    worker = free.pop()
    try:
        return worker.scan(reader, span)
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

    def __init__(self) -> None:
        self._process = start_main("evaluator.runs.scanning")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders = self._process.stdin
        self._answers = self._process.stdout

    def scan(self, reader: RowReader, span: Span) -> Scanned:
        try:
            pickle.dump((reader, span), self._orders)
            self._orders.flush()
            answer: Scanned | OSError = pickle.load(self._answers)  # noqa: S301 - from a process of our own
        except (OSError, EOFError, pickle.UnpicklingError):
            raise OSError(f"{span.path}: the process that reads it ended early: is there enough memory?") from None
        if isinstance(answer, OSError):
            raise answer
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._orders.close()
        self._answers.close()


def main() -> None:
    """The process: orders on its input, each answered on its output."""
    with contextlib.suppress(EOFError, BrokenPipeError):  # nobody is there any more
        while True:
            reader, span = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
            try:
                answer: Scanned | OSError = scan(reader, span)
            except OSError as error:
                answer = error
            pickle.dump(answer, sys.stdout.buffer, 5)
            sys.stdout.buffer.flush()


class Numbering:
    """Counts the rows of each task over all files. Rows go through it in their order."""

    def __init__(self) -> None:
        self.rows = 0
        self._of_task: Counter[str] = Counter()
        self._of_model: Counter[tuple[str, str | None]] = Counter()
        self._seen: list[NDArray[np.uint64]] = []
        """The ids so far, as sorted arrays whose sizes double: 8 bytes each."""

    def note(self, table: pa.Table) -> None:
        """Rows that were numbered at an earlier opening."""
        tasks, models = table["task_id"].to_pylist(), table["model"].to_pylist()
        self._of_task.update(tasks)
        self._of_model.update(zip(tasks, models, strict=True))
        self._new(table["id_hash"].to_numpy())
        self.rows += table.num_rows

    def numbered(self, table: pa.Table, lines_before: int) -> tuple[pa.Table, list[tuple[int, str]]]:
        """The rows with `row`, `sample_id`, `sample_index` and true lines, and (line, sample id) of those dropped.

        `lines_before`: the lines of the file before the rows' own line 1.
        """
        table = _with(table, "source_line", pc.add(table["source_line"], lines_before))
        table = self._named(table)
        is_new = self._new(table["id_hash"].to_numpy())
        dropped: list[tuple[int, str]] = []
        if not is_new.all():
            again = table.filter(pa.array(~is_new))
            dropped = list(zip(again["source_line"].to_pylist(), again["sample_id"].to_pylist(), strict=True))
            table = table.filter(pa.array(is_new))
        rows = pa.array(np.arange(self.rows, self.rows + table.num_rows), pa.int64())
        self.rows += table.num_rows
        return table.add_column(0, "row", rows), dropped

    def _named(self, table: pa.Table) -> pa.Table:
        names = ("task_id", "model", "sample_id", "sample_index", "id_hash")
        tasks, models, ids, indices, hashes = (table[name].to_pylist() for name in names)
        for at, key in enumerate(zip(tasks, models, strict=True)):
            task = key[0]
            if indices[at] is None:
                indices[at] = self._of_model[key]
            if not ids[at]:
                ids[at] = f"{task}#{self._of_task[task]}"
                hashes[at] = id_hash(ids[at])
            self._of_task[task] += 1
            self._of_model[key] += 1
        table = _with(table, "sample_id", pa.array(ids, pa.string()))
        table = _with(table, "sample_index", pa.array(indices, pa.int64()))
        return _with(table, "id_hash", pa.array(hashes, pa.uint64()))

    def _new(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these come for the first time, here too."""
        unique, first = np.unique(ids, return_index=True)
        is_new = np.zeros(len(ids), dtype=bool)
        is_new[first] = True
        for known in self._seen:
            place = np.searchsorted(known, ids)
            place[place == len(known)] = 0
            is_new &= known[place] != ids
        if len(unique):
            self._seen.append(unique)
        while len(self._seen) > 1 and len(self._seen[-2]) < 2 * len(self._seen[-1]):
            self._seen.append(np.unique(np.concatenate([self._seen.pop(), self._seen.pop()])))
        return is_new


def _with(table: pa.Table, name: str, column: Any) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)


def id_hash(sample_id: str) -> int:
    """8 bytes that identify a sample; never 0."""
    digest = hashlib.blake2b(sample_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1
