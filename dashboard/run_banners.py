"""The lines above every page about how a run was made: in a degraded sandbox, or stopped before its end."""

from __future__ import annotations

from pathlib import Path

from dashboard import facts, grading
from dashboard.wording import counted
from dashboard.workspace import OpenRun
from evaluator.runs.files import LOCK
from evaluator.runs.resuming import input_path, resume_command

_UNPROVED = "unproved: "
_COUNTED_BYTES = 1 << 29
"""Rollouts of a larger file are not counted for a banner."""
_LOCKS = Path("/proc/locks")


def degraded(run: OpenRun) -> None:
    """For a run that was graded with `--sandbox degraded`."""
    if run.manifest.sandbox != "degraded":
        return
    lacking = [layer.removeprefix(_UNPROVED) for layer in run.manifest.layers if layer.startswith(_UNPROVED)]
    if lacking:
        text = f"Graded in a degraded sandbox, not proved: {', '.join(lacking)}. To see the fix, run:"
        facts.banner(text, command="rollscope doctor", warn=True)
    else:
        facts.banner("Graded with --sandbox degraded, but files, network and process tree were proved.")


def stopped(run: OpenRun, graded: int) -> None:
    """For a run that was stopped, or whose writer is gone: how far it got, and the command that resumes it."""
    if run.manifest.state == "finished" or is_growing(run):
        return
    total = _total(run)
    at = (
        counted(graded, "rollout") if total is None or total <= graded else f"{graded:,} of {counted(total, 'rollout')}"
    )
    command = resume_command(run.path, run.manifest)
    facts.banner(f"Stopped at {at}: figures are partial. Resume with:", command=command, warn=True)


def is_growing(run: OpenRun) -> bool:
    """Whether a process is writing the run now."""
    return run.manifest.state == "running" and _has_writer(run.path)


def _total(run: OpenRun) -> int | None:
    """How many rollouts there are to grade; None where counting them would take long."""
    path = input_path(run.path, run.manifest, run.manifest.rollouts)
    try:
        found = grading.lines(path) if path.is_file() and path.stat().st_size <= _COUNTED_BYTES else None
    except OSError:
        return None
    return found if found is None or run.manifest.limit is None else min(found, run.manifest.limit)


def _has_writer(path: Path) -> bool:
    """Whether a process holds the run's lock. It is looked up, as trying to take it could block a writer."""
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
