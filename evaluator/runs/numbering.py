"""Numbers the rows of rollouts files that are indexed, names their samples, and drops repeated ones."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


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
