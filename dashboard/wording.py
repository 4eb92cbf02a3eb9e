"""How the pages word counts and names."""

from __future__ import annotations

_BETWEEN = "/:_- "


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def short_sample(task_id: str, sample_id: str, model: str | None = None) -> str:
    """The sample's id without those of its task and model, which stand beside it."""
    rest = sample_id
    for part in (task_id, task_id.rpartition("/")[2], model or ""):
        after = rest.removeprefix(part)
        if part and after != rest and after.startswith((*_BETWEEN, "#")):
            rest = after.lstrip(_BETWEEN) or rest
    return rest
