"""Resuming a run: the command that does it, from any folder and with the options of its last grading, and the rollouts
that have no grade yet, or are to be graded again.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evaluator.model import Rollout, Verdict
from evaluator.options import Options, by_name
from evaluator.runs.schema import Manifest, sample_key

if TYPE_CHECKING:
    from evaluator.runs.writing import RunWriter

_PROGRAM = "rollscope"


def folder_from(run: Path) -> str:
    """The working directory as `Manifest.folder` stores it: relative, so that both can move together."""
    return os.path.relpath(Path.cwd(), run.resolve())


def resume_command(run: Path, manifest: Manifest) -> str:
    """One line for a shell that grades the rest of a run in the same way."""
    words = [program(), "grade"]
    rollouts = [manifest.rollouts or "ROLLOUTS", *manifest.more_rollouts]
    words += [_from_anywhere(run, manifest, name) for name in rollouts]
    given = {
        "dataset": dataset_path(run, manifest) if manifest.dataset else "DATASET",
        "workers": manifest.workers,
        "engine": None if manifest.engine == "local" else manifest.engine,
        "address": manifest.address,
        **_flags(manifest.options),
        "only": manifest.only,
        "format": manifest.format,
        "map": manifest.field_map,
        "dataset-format": manifest.dataset_format,
        "dataset-map": manifest.dataset_map,
        "limit": manifest.limit,
        "cache": manifest.cache,
    }
    for name, value in given.items():
        words += [] if value is None else [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join([*words, "--resume", "--output", str(run.resolve())])


def _flags(options: Options) -> dict[str, object]:
    """Those that are not the usual ones. The preamble of a run holds without being named."""
    limits, usual = options.limits, by_name(Options())
    changed: dict[str, object] = {}
    if limits.wall_s != usual["limits"].wall_s:
        changed["timeout"] = _number(limits.wall_s)
    if limits.memory_mb != usual["limits"].memory_mb:
        changed["memory"] = _number(limits.memory_mb)
    for name, value in by_name(options).items():
        if value != usual[name] and name not in ("limits", "preamble"):
            changed["python" if name == "interpreter" else name.replace("_", "-")] = value
    return changed


def check_command(run: Path, manifest: Manifest, name: str) -> str:
    """One line for a shell that prints every bad line of an input file of the manifest."""
    words = [program(), "formats", _from_anywhere(run, manifest, name), "--check"]
    if name != manifest.dataset:
        words += ["--format", manifest.format] if manifest.format else []
        words += ["--map", manifest.field_map] if manifest.field_map else []
    return shlex.join(words)


def input_path(run: Path, manifest: Manifest, name: str) -> Path:
    """The path of an input file of the manifest. Runs of older versions have no folder: then it is tried from here."""
    if manifest.folder is not None:
        return (run.resolve() / manifest.folder).resolve() / name
    return Path.cwd() / name if Path(name).exists() else Path(name)


def dataset_path(run: Path, manifest: Manifest) -> Path | None:
    """The path of the dataset; None where the rollouts' rows have the tests: they may be several files."""
    own = manifest.dataset == manifest.rollouts
    return None if own else input_path(run, manifest, manifest.dataset)


def _from_anywhere(run: Path, manifest: Manifest, name: str) -> str:
    is_path = name not in ("-", "ROLLOUTS") and not name.startswith("s3://")
    return str(input_path(run, manifest, name)) if is_path else name


def _number(value: float) -> str:
    """All digits: a run can't be resumed with a different limit."""
    return repr(value).removesuffix(".0")


def program() -> str:
    """The command's name if the shell finds this installation by it, else its path."""
    here = Path(sys.executable).with_name(_PROGRAM)
    found = shutil.which(_PROGRAM)
    by_name = not here.exists() or (found is not None and Path(found).resolve() == here.resolve())
    return _PROGRAM if by_name else str(here)


_JUDGE_FAILED: Final = "verdict = 'unknown' AND list_contains(flags, 'judge_failed')"
"""These have no reward because a judge did not answer, which it may by now."""


class Remaining:
    """The rollouts to grade, as a stream, with the ordinal that each one has in its file."""

    def __init__(self, rollouts: Iterator[Rollout], writer: RunWriter, again: set[int] | None, *, resume: bool) -> None:
        """`again`: the keys of the samples to grade again, and no other one. None: all, or with `resume` the others
        than the run has."""
        self._rollouts = rollouts
        self._again = again
        self._run = writer.path
        resume = resume and again is None
        unanswered = _samples_where(writer.path, _JUDGE_FAILED) if resume else set()
        self._done = writer.graded_samples() - unanswered if resume else set()
        self._rows: dict[int, int] = {}
        if again is not None or unanswered:
            writer.regrade()

    def __iter__(self) -> Iterator[Rollout]:
        places = itertools.count()
        chosen = bool(self._done) or self._again is not None
        for row, rollout in enumerate(self._rollouts):
            if chosen:
                key = sample_key(rollout.task_id, rollout.sample_id)
                if key in self._done or (self._again is not None and key not in self._again):
                    continue
            self._rows[next(places)] = row
            yield rollout

    def row(self, place: int) -> int:
        """The ordinal in the file of the rollout at a place of this stream; to be called once for each."""
        return self._rows.pop(place)

    def total(self, limit: int | None, files: Iterable[Path]) -> int | None:
        """About how many they are; None where that would take reading the files."""
        again, done = self._again, self._done
        if limit is not None and (again or done):
            within = _samples_where(self._run, f'"row" < {limit}')  # a grade of a later rollout is not one fewer to do
            again, done = (None if again is None else again & within), done & within
        if again is not None:
            return len(again)
        counts = [count_lines(path) for path in files]
        total = None if None in counts else sum(count for count in counts if count is not None)
        known = [count for count in (total, limit) if count is not None]
        return max(min(known) - len(done), 0) if known else None


def chosen_again(run: Path, only: str) -> set[int]:
    """The keys of the samples in the run that have these verdicts or meet this condition. Raises `QueryError`."""
    words = [word.strip() for word in only.split(",")]
    if set(words) <= {verdict.value for verdict in Verdict}:
        only = f"verdict IN ({', '.join(map(repr, words))})"
    return _samples_where(run, only)


def count_lines(path: Path) -> int | None:
    """How many lines a plain file of JSON lines has; None for other files, which would have to be read for it."""
    if path.suffix != ".jsonl":
        return None
    count, last = 0, b"\n"
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            count, last = count + chunk.count(b"\n"), chunk[-1:]
    return count + (last != b"\n")


def _samples_where(run: Path, condition: str) -> set[int]:
    from evaluator.runs.reading import Run

    return Run.open(run).samples_where(condition)
