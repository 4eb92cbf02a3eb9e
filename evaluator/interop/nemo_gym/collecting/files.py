"""The files of a collection: inputs, rollouts and failures. Lines are only ever added whole."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from evaluator.formats.nemo_gym_files import aggregate_metrics_path, failures_path, materialized_inputs_path
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.interop.nemo_gym.collecting.transport import CollectError
from evaluator.interop.nemo_gym.wire import ROLLOUT_INDEX, TASK_INDEX
from evaluator.user_files import replacing

Fields = TypeVar("Fields")
Key = tuple[int, int]
"""Task index and rollout index, which identify a rollout."""

_CHUNK: Final = 1 << 20
_PACKED: Final = (".gz", ".zst")


class Files(msgspec.Struct, frozen=True):
    """Their paths, named as NeMo Gym does."""

    output: Path

    @property
    def inputs(self) -> Path:
        return materialized_inputs_path(self.output)

    @property
    def failures(self) -> Path:
        return failures_path(self.output)

    @property
    def metrics(self) -> Path:
        return aggregate_metrics_path(self.output)


class _Numbers(msgspec.Struct):
    """The fields that identify the rollout of a line."""

    task: int = msgspec.field(name=TASK_INDEX)
    rollout: int = msgspec.field(name=ROLLOUT_INDEX)


def fields_of(line: bytes, kind: type[Fields]) -> Fields | None:
    """The fields of a line, which may have NaN, a large number or half a surrogate pair; None for a malformed one."""
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        try:
            return msgspec.convert(decode_json(line), kind)
        except (JsonError, msgspec.ValidationError):
            return None


def key_of(line: bytes) -> Key | None:
    """The rollout that a line belongs to; None for a malformed line."""
    numbers = fields_of(line, _Numbers)
    return None if numbers is None else (numbers.task, numbers.rollout)


class Output:
    """The files during a collection: locked, and open for appending."""

    def __init__(self, files: Files, rollouts: FileIO, done: set[Key], inputs: int) -> None:
        self.files = files
        self.done = done
        """The rollouts that exist."""
        self.inputs = inputs
        """How many rollouts to collect."""
        self._rollouts = rollouts
        self._failures: FileIO | None = None

    def wanted(self) -> Iterator[bytes]:
        """The inputs of the missing rollouts."""
        for line in lines_of(self.files.inputs):
            if key_of(line) not in self.done:
                yield line

    def add(self, line: bytes, *, failed: bool) -> None:
        """Adds a rollout, or a failed one."""
        if failed:
            if self._failures is None:
                _repair_end(self.files.failures)
                self._failures = _locked(self.files.failures)
            _write(self._failures, line)
            return
        _write(self._rollouts, line)
        key = key_of(line)
        assert key is not None
        self.done.add(key)

    def discard_if_empty(self) -> None:
        """Removes the files if nothing was collected, so that the same command can be repeated."""
        if not self.done and self._failures is None and not self.files.failures.exists():
            self.files.inputs.unlink(missing_ok=True)
            self.files.output.unlink(missing_ok=True)

    def close(self) -> None:
        self._rollouts.close()
        if self._failures is not None:
            self._failures.close()


def begin(files: Files, rows: Iterable[bytes], *, resume: bool, tell: Callable[[str], None]) -> Output:
    """Creates the files, or resumes existing ones. `tell` gets a message for each malformed line.

    Raises `CollectError` if they belong to another collection, `OSError` if they can't be written.
    """
    if files.output.suffix in _PACKED:
        raise CollectError(
            f"--output {files.output}: lines are appended, so it can't be compressed: leave out the ending"
        )
    there = [path for path in (files.output, files.inputs, files.failures) if path.exists()]
    if there and not resume:
        raise CollectError(f"{there[0]} already exists: give --resume to resume it, or another --output")
    if not files.inputs.exists() and files.output.exists() and files.output.stat().st_size:
        raise CollectError(f"{files.inputs} is missing, so there is nothing to resume: give another --output")
    files.output.parent.mkdir(parents=True, exist_ok=True)
    rollouts = _locked(files.output)
    try:
        count = _keep_inputs(files, rows)
        _repair_end(files.output)
        return Output(files, rollouts, _done(files.output, tell), count)
    except BaseException:
        if not files.inputs.exists():
            files.output.unlink(missing_ok=True)
        rollouts.close()
        raise


def drop_settled(files: Files, done: set[Key]) -> None:
    """Keeps only the last failure of each rollout that is still missing."""
    if not files.failures.exists():
        return
    last = {key: line for line in lines_of(files.failures) if (key := key_of(line)) is not None and key not in done}
    if not last:
        files.failures.unlink()
        return
    _replace(files.failures, last.values())


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, with their ends."""
    with path.open("rb") as file:
        yield from file


def _keep_inputs(files: Files, rows: Iterable[bytes]) -> int:
    """Writes the inputs, all or none, and counts them. Existing ones must be among them, unchanged."""
    old = lines_of(files.inputs) if files.inputs.exists() else ()
    before = {key_of(line): (number, _digest(line)) for number, line in enumerate(old, start=1)}

    def checked() -> Iterator[bytes]:
        for line in rows:
            number, digest = before.pop(key_of(line), (0, b""))
            if number and digest != _digest(line):
                raise _other_inputs(files, number)
            yield line
        if before:
            raise _other_inputs(files, min(number for number, _ in before.values()))

    return _replace(files.inputs, checked())


def _other_inputs(files: Files, number: int) -> CollectError:
    return CollectError(
        f"{files.inputs}:{number}: the collection began with other rows or options: give the same --input, --model and"
        " sampling options, with --num-repeats and --limit no smaller, or another --output"
    )


def _digest(line: bytes) -> bytes:
    """A digest of a line's values, in any notation; the lines themselves may be too large to keep."""
    try:
        values = json.dumps(decode_json(line), sort_keys=True).encode()
    except JsonError:
        values = line
    return hashlib.blake2b(values, digest_size=16).digest()


def _replace(path: Path, lines: Iterable[bytes]) -> int:
    """Writes a file atomically and counts its lines."""
    count = 0
    with replacing(path) as new, new.open("wb") as file:
        for count, line in enumerate(lines, start=1):  # noqa: B007 - the last count is wanted
            file.write(line)
    return count


def _done(output: Path, tell: Callable[[str], None]) -> set[Key]:
    done: set[Key] = set()
    for number, line in enumerate(lines_of(output), start=1):
        key = key_of(line)
        if key is not None:
            done.add(key)
        elif line.strip():
            tell(f"{output}:{number}: malformed rollout: skipped, and collected again")
    return done


def _repair_end(path: Path) -> None:
    """Ends the last line, or removes it if it is incomplete."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        begin, tail = size, b""
        while begin and b"\n" not in tail:
            end, begin = begin, max(0, begin - _CHUNK)
            file.seek(begin)
            tail = file.read(end - begin) + tail
        last = tail.rpartition(b"\n")[2]
        if not last:
            return
        if key_of(last) is None:
            file.truncate(size - len(last))
        else:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")


def _locked(path: Path) -> FileIO:
    """Opens a file for appending and locks it: two collections would write every rollout twice."""
    file = path.open("ab", buffering=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise CollectError(
            f"{path}: another collection is writing to it: wait for its end, or give another --output"
        ) from None
    return file


def _write(file: FileIO, line: bytes) -> None:
    """Writes unbuffered, so that a kill at any moment cuts off at most one line."""
    rest = memoryview(line)
    while rest:
        rest = rest[file.write(rest) :]
