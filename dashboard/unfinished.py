"""Says on every page that a run was stopped before its end, and the command that goes on with it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from dashboard import facts, grading
from dashboard.workspace import OpenRun
from evaluator.model import Limits
from evaluator.run_files import LOCK

_COUNTED_BYTES = 1 << 29
"""The rollouts of a larger file are not counted for a banner."""
_LOCKS = Path("/proc/locks")


def banner(run: OpenRun, graded: int) -> None:
    """A line above the page, for a run that was stopped or whose writer is gone."""
    manifest = run.manifest
    if manifest.get("state") == "finished" or is_growing(run):
        return
    total = _total(manifest)
    at = f"{graded:,} of {total:,} rollouts" if total is not None and total > graded else facts.rollouts(graded)
    facts.banner(f"Stopped at {at}: figures are partial. {resume(run.path, manifest)} goes on.", warn=True)


def is_growing(run: OpenRun) -> bool:
    """Whether a process is writing the run at this moment."""
    return run.manifest.get("state") == "running" and _has_writer(run.path)


def resume(path: Path, manifest: dict[str, Any]) -> str:
    """The command that grades what is left, the way that the rest was graded."""
    words = ["rollscope", "grade", manifest.get("rollouts") or "ROLLOUTS"]
    words += ["--dataset", manifest.get("dataset") or "DATASET"]
    limits, usual = manifest.get("limits") or {}, Limits()
    if limits.get("wall_s", usual.wall_s) != usual.wall_s:
        words += ["--timeout", f"{limits['wall_s']:g}"]
    if limits.get("memory_mb", usual.memory_mb) != usual.memory_mb:
        words += ["--memory", f"{limits['memory_mb']:g}"]
    for name in ("checker", "grader"):
        words += [f"--{name}", manifest[name]] if manifest.get(name) else []
    words += ["--fail-fast"] if manifest.get("fail_fast") else []
    return shlex.join([*words, "--resume", "--out", str(path)])


def _total(manifest: dict[str, Any]) -> int | None:
    path = Path(manifest.get("rollouts") or "")
    try:
        return grading.lines(path) if path.is_file() and path.stat().st_size <= _COUNTED_BYTES else None
    except OSError:
        return None


def _has_writer(path: Path) -> bool:
    """Whether a process holds the run's lock. Looked up, not tried: a try could get in a writer's way."""
    try:
        inode = str((path / LOCK).stat().st_ino)
        held = [line.split() for line in _LOCKS.read_text().splitlines()]
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(
        "FLOCK" in words and any(word.rsplit(":", 1)[-1] == inode for word in words if ":" in word[:-1])
        for words in held
    )
