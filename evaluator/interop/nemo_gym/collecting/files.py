"""The files of a collection: inputs, rollouts and failures. Lines are only ever added whole."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from evaluator.formats.nemo_gym_files import aggregate_metrics_path, failures_path, materialized_inputs_path
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.interop.nemo_gym.collecting.service import CollectError
from evaluator.interop.nemo_gym.wire import ROLLOUT_INDEX, TASK_INDEX
from evaluator.user_files import replacing

Fields = TypeVar("Fields")
Key = tuple[int, int]
"""Task index and rollout index, which identify a rollout."""

_PACKED: Final = (".gz", ".zst")


class Files:
    """Their paths, named as NeMo Gym does."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.inputs = materialized_inputs_path(output)
        self.failures = failures_path(output)
        self.metrics = aggregate_metrics_path(output)


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

    def __init__(self, files: Files, rows: Iterable[bytes], *, resume: bool, tell: Callable[[str], None]) -> None:
        """Creates the files, or resumes existing ones. `tell` gets a message for each malformed line.

        Raises `CollectError` if they belong to another collection, `OSError` if they can't be written.
        """
        self.files = files
        _check(files, resume=resume)
        files.output.parent.mkdir(parents=True, exist_ok=True)
        self._rollouts = _locked(files.output)
        self._failures: FileIO | None = None
        try:
            self.inputs = _keep_inputs(files, rows)
            """How many rollouts to collect."""
            self.done = _done(files.output, tell)
            """The rollouts that exist."""
            self.drop_settled()
        except BaseException:
            if not files.inputs.exists():
                files.output.unlink(missing_ok=True)
            self.close()
            raise

    def wanted(self) -> Iterator[bytes]:
        """The inputs of the missing rollouts."""
        for line in lines_of(self.files.inputs):
            if key_of(line) not in self.done:
                yield line

    def add(self, line: bytes, *, failed: bool) -> None:
        """Adds a rollout, or a failed one."""
        if failed:
            self._failures = self._failures or self.files.failures.open("ab", buffering=0)
            _write(self._failures, line)
            return
        _write(self._rollouts, line)
        key = key_of(line)
        assert key is not None
        self.done.add(key)

    def drop_settled(self) -> None:
        """Keeps only the last failure of each rollout that is still missing."""
        path = self.files.failures
        if not path.exists():
            return
        lines = {key: line for line in lines_of(path) if (key := key_of(line)) is not None and key not in self.done}
        if lines:
            _replace(path, lines.values())
        else:
            path.unlink()

    def discard_if_empty(self) -> None:
        """Removes the files if nothing was collected, so that the same command can be repeated."""
        if not self.done and not self.files.failures.exists():
            self.files.inputs.unlink(missing_ok=True)
            self.files.output.unlink(missing_ok=True)

    def close(self) -> None:
        self._rollouts.close()
        if self._failures is not None:
            self._failures.close()


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, with their ends."""
    with path.open("rb") as file:
        yield from file


def _check(files: Files, *, resume: bool) -> None:
    if files.output.suffix in _PACKED:
        raise CollectError(
            f"--output {files.output}: lines are appended, so it can't be compressed: leave out the ending"
        )
    there = [path for path in (files.output, files.inputs, files.failures) if path.exists()]
    if there and not resume:
        raise CollectError(f"{there[0]} already exists: give --resume to resume it, or another --output")
    if not files.inputs.exists() and files.output.exists() and files.output.stat().st_size:
        raise CollectError(f"{files.inputs} is missing, so there is nothing to resume: give another --output")


def _keep_inputs(files: Files, rows: Iterable[bytes]) -> int:
    """Writes the inputs, all or none, and counts them. Existing ones must be among them, unchanged."""
    old = lines_of(files.inputs) if files.inputs.exists() else ()
    before = {key_of(line): (number, hash(line)) for number, line in enumerate(old, start=1)}

    def checked() -> Iterator[bytes]:
        for line in rows:
            number, digest = before.pop(key_of(line), (0, 0))
            if number and digest != hash(line):
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


def _replace(path: Path, lines: Iterable[bytes]) -> int:
    """Writes a file atomically and counts its lines."""
    count = 0
    with replacing(path) as new, new.open("wb") as file:
        for count, line in enumerate(lines, start=1):  # noqa: B007 - the last count is wanted
            file.write(line if line.endswith(b"\n") else line + b"\n")
    return count


def _done(output: Path, tell: Callable[[str], None]) -> set[Key]:
    """The rollouts that exist. Ends the last line, or removes it if it is incomplete."""
    done: set[Key] = set()
    read = 0
    with output.open("r+b") as file:
        for number, line in enumerate(file, start=1):
            key = key_of(line)
            if key is not None:
                done.add(key)
                if not line.endswith(b"\n"):
                    file.write(b"\n")
            elif not line.endswith(b"\n"):
                file.truncate(read)
            elif line.strip():
                tell(f"{output}:{number}: malformed rollout: skipped, and collected again")
            read += len(line)
    return done


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
