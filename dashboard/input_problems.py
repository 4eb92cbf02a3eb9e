"""What could not be used of the input files, for the page Bad lines and the links to it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from dashboard import state
from dashboard.facts import counted
from dashboard.state import View
from dashboard.workspace import OpenRun
from evaluator.formats.reading.problems import reason_of
from evaluator.runs.resuming import check_command
from evaluator.runs.schema import OTHER_REASONS


class BadRow(Protocol):
    """A row that could not be used: `evaluator.runs.schema.BadLine` and `evaluator.formats.Problem` are such."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def offset(self) -> int | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def snippet(self) -> str: ...


class BadLines(NamedTuple):
    """What could not be used, and how much could."""

    problems: Sequence[BadRow]
    """The first ones, which are kept."""
    total: int
    """All of them."""
    reasons: Mapping[str, int]
    """All of them by reason, or the stored ones where no more is known."""
    rows: int
    """How many rollouts could be used."""
    commands: Mapping[str, str] = {}
    """By file: the command that prints every bad line of it; missing where its path alone names it."""

    def reason(self, bad: BadRow) -> str:
        """Under which of `reasons` it is counted."""
        name = _reason(bad)
        return name if name in self.reasons else OTHER_REASONS

    def command(self, path: str) -> str:
        """The command that prints every bad line of a file."""
        return self.commands.get(path) or shlex.join(["rollscope", "formats", path, "--check"])


def of_run(run: OpenRun) -> BadLines:
    """The bad lines of a run's input files: as its manifest has them."""
    manifest = run.manifest
    kept = manifest.problems
    paths = dict.fromkeys(bad.path for bad in kept)
    return BadLines(
        kept,
        _total(run),
        manifest.problem_reasons or Counter(map(_reason, kept)),
        manifest.counts.get("rollouts", 0),
        commands={path: check_command(run.path, manifest, path) for path in paths if not run.recorded},
    )


def _total(run: OpenRun) -> int:
    return run.manifest.problems_total or len(run.manifest.problems)


def _reason(bad: BadRow) -> str:
    return bad.reason or reason_of(bad.message)


def link(run: OpenRun, view: View) -> None:
    """A link to the page Bad lines that says how many bad lines there are; nothing if there are none."""
    if total := _total(run):
        state.link("bad_lines", view.place(), f"{counted(total, 'bad input line')} left out")
