"""Reads the texts of a rollout from its file when they are needed, by its place there."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import duckdb
import msgspec

from evaluator.extraction import Extraction, extract
from evaluator.formats.reading.problems import FormatError
from evaluator.index.building import reader_of
from evaluator.index.state import State, kept_path, read_at
from evaluator.model import Mode, Rollout, Task
from evaluator.runs.files import RunError
from evaluator.runs.reading import add_function
from evaluator.runs.schema import metadata_json, safe_text

PLACE: Final = ("file", "at", "size", "nth")
"""The columns that say where a rollout is."""
_KEPT_BYTES: Final = 16 << 20
"""Of the rows last read: DuckDB asks for one text of 2,048 rows, then for the next text of the same rows."""


@dataclass(frozen=True)
class Sample:
    """A rollout, and the prompt if its row has it."""

    rollout: Rollout
    prompt: str

    @cached_property
    def extraction(self) -> Extraction:
        """The program in the completion. A plain text without a fence is not taken for one."""
        rollout = self.rollout
        task = Task(task_id=rollout.task_id, mode=Mode.ANSWER, prompt=self.prompt)
        return extract(rollout.completion, task=task, kind=rollout.kind)


class Texts:
    """The texts of an indexed source. Any thread may ask."""

    def __init__(self, folder: Path, state: State) -> None:
        self._readers = [reader_of(state.source, file) for file in state.files]
        self._paths = [file.path if file.in_place else str(kept_path(folder, n)) for n, file in enumerate(state.files)]
        self._rows: OrderedDict[tuple[int, int], tuple[int, list[Sample]]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def sample(self, file: int, at: int, size: int, nth: int) -> Sample:
        """The rollout at a place, with its prompt. Raises `RunError` if the file has changed."""
        key = (file, at)
        with self._lock:
            _, row = self._rows.get(key, (0, None))
        if row is None:
            row = self._read(file, at, size)
            self._keep(key, size, row)
        if nth >= len(row):
            raise RunError(f"{self._paths[file]}: has changed since it was opened: load the page again")
        return row[nth]

    def _keep(self, key: tuple[int, int], size: int, row: list[Sample]) -> None:
        with self._lock:
            replaced, _ = self._rows.pop(key, (0, None))
            self._rows[key] = size, row
            self._bytes += size - replaced
            while self._bytes > _KEPT_BYTES:
                _, (oldest, _) = self._rows.popitem(last=False)
                self._bytes -= oldest

    def _read(self, file: int, at: int, size: int) -> list[Sample]:
        path = self._paths[file]
        try:
            return [Sample(*each) for each in self._readers[file].samples(read_at(path, at, size))]
        except (OSError, FormatError, msgspec.DecodeError) as error:
            raise RunError(f"{path}: has changed since it was opened ({error}): load the page again") from None

    def offer(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Add the functions `completion_of`, `metadata_of`, `code_of`, `prompt_of` and so on, over `PLACE`."""
        for name, (kind, get) in _FUNCTIONS.items():
            add_function(connection, name, partial(self._text, get), kind)

    def _text(self, get: Callable[[Sample], Any], *place: int) -> Any:
        return get(self.sample(*place))


_FUNCTIONS: Final[dict[str, tuple[str, Callable[[Sample], Any]]]] = {
    "completion_of": ("VARCHAR", lambda sample: safe_text(sample.rollout.completion)),
    "metadata_of": ("VARCHAR", lambda sample: metadata_json(sample.rollout)),
    "prompt_of": ("VARCHAR", lambda sample: safe_text(sample.prompt)),
    "code_of": ("VARCHAR", lambda sample: safe_text(sample.extraction.code) if sample.extraction.code else None),
    "kind_of": ("VARCHAR", lambda sample: sample.extraction.kind.value),
    "line_offset_of": ("INTEGER", lambda sample: sample.extraction.line_offset),
    "extracted_from_of": ("VARCHAR", lambda sample: sample.extraction.extracted_from),
}
