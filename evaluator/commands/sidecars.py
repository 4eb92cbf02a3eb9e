"""Finds the files that belong to NeMo Gym rollouts, and reports each in one line on stderr."""

from __future__ import annotations

import sys
from pathlib import Path

from evaluator.commands.failure import CommandError
from evaluator.formats import FormatError, FormatMatch, Role, sniff
from evaluator.formats.nemo_gym_sidecars import failures_path, materialized_inputs_path, read_failures

_FORMAT = "nemo_gym"
_MISSING = "Missing option '--dataset'"


def required_dataset(rollouts: Path, format_name: str | None) -> Path:
    """The tasks of rollouts when `--dataset` is not given. Raises `CommandError` if none are found."""
    readings = _readings(rollouts, format_name)
    found = _inputs(rollouts, readings)
    if found is not None:
        return found
    if not any(reading.role is Role.ROLLOUTS for reading in readings):
        raise CommandError(f"{_MISSING} (see rollscope grade --help)")
    expected = materialized_inputs_path(rollouts)
    raise CommandError(
        f"{_MISSING}: the rollouts have no tests, and there is no {expected} (see rollscope grade --help)"
    )


def found_dataset(rollouts: Path, format_name: str | None = None) -> Path | None:
    """The tasks of such rollouts, if they are found."""
    return _inputs(rollouts, _readings(rollouts, format_name))


def tell_failures(rollouts: Path, format_name: str | None) -> None:
    """Print how many rollouts failed, by reason: no other file has them."""
    path = failures_path(rollouts)
    if not path.is_file() or not _readings(rollouts, format_name):
        return
    try:
        failures = read_failures(path)
    except FormatError as error:
        print(error, file=sys.stderr)
        return
    if failures:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in failures.most_common())
        print(f"{path}: failed, without a completion: {failures.total():,} ({kinds})", file=sys.stderr)


def _inputs(rollouts: Path, readings: list[FormatMatch]) -> Path | None:
    if not any(reading.role is Role.ROLLOUTS for reading in readings):
        return None
    beside = materialized_inputs_path(rollouts)
    if beside.is_file():
        print(f"tasks from {beside}, found next to the rollouts", file=sys.stderr)
        return beside
    if any(reading.role is Role.TASKS for reading in readings):
        print(f"tasks from {rollouts} itself: its rows have the tests", file=sys.stderr)
        return rollouts
    return None


def _readings(rollouts: Path, format_name: str | None) -> list[FormatMatch]:
    """The ways to read the file in this format; empty if it has another format or can't be read."""
    if format_name not in (None, _FORMAT):
        return []
    try:
        found = sniff(rollouts)
    except FormatError:
        return []
    return [reading for reading in (found, *found.others) if reading.format == _FORMAT]
