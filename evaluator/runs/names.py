"""Where a run goes whose directory nobody names."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_SUFFIXES: Final = (
    ".gz", ".zst", ".bz2", ".xz", ".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".tsv", ".eval", ".rollouts",
)  # fmt: skip


def default_run(rollouts: Path) -> Path:
    """`runs/<stem>-<UTC time>`, with a number at its end where there is one by that name."""
    base = run_stem(rollouts)
    base = base.with_name(f"{base.name}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}")
    names = itertools.chain([base], (base.with_name(f"{base.name}-{number}") for number in itertools.count(2)))
    return next(path for path in names if not path.exists())


def run_stem(rollouts: Path) -> Path:
    """`runs/<stem>`: the name of a run of these rollouts up to the time in it."""
    stem = rollouts.name
    for suffix in _SUFFIXES:
        stem = stem.removesuffix(suffix)
    if {*stem} & {*"*?["}:
        stem = rollouts.parent.name
    return Path("runs") / (stem.strip("*?[]-") or "rollouts")
