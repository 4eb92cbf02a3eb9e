"""Says on every page that a run was stopped before its end, and the command that goes on with it."""

from __future__ import annotations

from pathlib import Path

from dashboard import facts, grading
from dashboard.wording import counted
from dashboard.workspace import OpenRun
from evaluator.runs.files import LOCK
from evaluator.runs.resuming import input_path, resume_command

_COUNTED_BYTES = 1 << 29
"""The rollouts of a larger file are not counted for a banner."""
_LOCKS = Path("/proc/locks")


def banner(run: OpenRun, graded: int) -> None:
    """A line above the page, for a run that was stopped or whose writer is gone."""
    manifest = run.run.manifest
    if manifest.state == "finished" or is_growing(run):
        return
    total = _total(run)
    whole = total is None or total <= graded
    at = counted(graded, "rollout") if whole else f"{graded:,} of {counted(total, 'rollout')}"
    command = resume_command(run.path, manifest)
    facts.banner(f"Stopped at {at}: figures are partial. Go on with:", command=command, warn=True)


def is_growing(run: OpenRun) -> bool:
    """Whether a process is writing the run at this moment."""
    return run.run.manifest.state == "running" and _has_writer(run.path)


def _total(run: OpenRun) -> int | None:
    """How many rollouts there are to grade; None where that can't be told quickly."""
    manifest = run.run.manifest
    path = input_path(run.path, manifest, manifest.rollouts)
    try:
        found = grading.lines(path) if path.is_file() and path.stat().st_size <= _COUNTED_BYTES else None
    except OSError:
        return None
    return found if found is None or manifest.limit is None else min(found, manifest.limit)


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
