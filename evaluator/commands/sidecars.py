"""Finds the files that belong to NeMo Gym rollouts, and reports each in one line on stderr."""

from __future__ import annotations

import sys
from pathlib import Path

from evaluator.commands.failure import CommandError
from evaluator.formats import FileLike, FormatError, Role, Source
from evaluator.formats.nemo_gym_files import (
    failures_path,
    materialized_inputs_path,
    read_failures,
    roles_of,
    tasks_file,
)
from evaluator.formats.sources import source_of

_MISSING = "Missing option '--dataset'"


def required_dataset(rollouts: Source, format_name: str | None) -> Path:
    """The tasks of rollouts when `--dataset` is not given. Raises `CommandError` if none are found."""
    found = found_dataset(rollouts, format_name)
    if found is not None:
        return found
    if Role.ROLLOUTS not in roles_of(rollouts.path, format_name):
        raise CommandError(f"{_MISSING} (see rollscope grade --help)")
    expected = materialized_inputs_path(rollouts.path)
    raise CommandError(
        f"{_MISSING}: the rollouts have no tests, and there is no {expected} (see rollscope grade --help)"
    )


def found_dataset(rollouts: FileLike, format_name: str | None = None) -> Path | None:
    """The tasks of such rollouts, if they are found."""
    path = source_of(rollouts).path
    found = tasks_file(path, format_name)
    if found == path:
        print(f"tasks from {rollouts} itself: its rows have the tests", file=sys.stderr)
    elif found is not None:
        print(f"tasks from {found}, found next to the rollouts", file=sys.stderr)
    return found


def tell_failures(rollouts: Path, format_name: str | None) -> None:
    """Print how many rollouts failed, by reason: no other file has them."""
    path = failures_path(rollouts)
    if not path.is_file() or not roles_of(rollouts, format_name):
        return
    try:
        failures = read_failures(path)
    except FormatError as error:
        print(error, file=sys.stderr)
        return
    if failures:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in failures.most_common())
        print(f"{path}: failed, without a completion: {failures.total():,} ({kinds})", file=sys.stderr)
