"""The rows that could not be used: all of them counted, the first of them kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from evaluator.formats.problems import Problem
from evaluator.index.state import State
from evaluator.runs.schema import safe_text

KEPT: Final = 10_000
"""Further ones are only counted."""
_FILE: Final = "problems.jsonl"


class ProblemLog:
    """Adds problems to the state's counts, and to the file beside it."""

    def __init__(self, folder: Path, state: State) -> None:
        self._path = folder / _FILE
        self._state = state
        self._new: list[Problem] = []
        if self._path.exists():
            os.truncate(self._path, state.problem_bytes)  # a process that was killed may have written more

    def add(self, problem: Problem) -> None:
        """Count a problem and keep it if there is room."""
        if self._state.problems < KEPT:
            safe = {"path": safe_text(problem.path), "message": safe_text(problem.message)}
            self._new.append(msgspec.structs.replace(problem, **safe))
        self._state.problems += 1
        self._state.reasons[problem.reason] = self._state.reasons.get(problem.reason, 0) + 1

    def save(self) -> None:
        """Write the new ones. Raises `OSError`."""
        if self._new:
            with self._path.open("ab") as file:
                file.write(msgspec.json.Encoder().encode_lines(self._new))
                self._state.problem_bytes = file.tell()
            self._new = []


def kept_problems(folder: Path, state: State) -> Iterator[Problem]:
    """The problems that were kept, in the order in which they were found."""
    if not state.problem_bytes:
        return
    decoder = msgspec.json.Decoder(Problem)
    with (folder / _FILE).open("rb") as file:
        for line in file.read(state.problem_bytes).splitlines():
            yield decoder.decode(line)
