"""What a task is called on the pages: by its id, or by its prompt's own words where the id is made from the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.queries.query import cached
from dashboard.workspace import OpenRun
from evaluator.tasks.parts import MADE_ID

_SEEN = 200
"""Tasks whose prompts are looked at for what all prompts begin with."""
_LOOKED_AT = 4_000
"""Characters of a prompt."""
_LONGEST = 48


@cached
def names(run: OpenRun, ids: Sequence[str]) -> dict[str, str]:
    """The names of those tasks that are not called by their ids."""
    made = [task for task in ids if task.startswith(MADE_ID)]
    if not made:
        return {}
    sql = f"SELECT task_id, left(prompt, {_LOOKED_AT}) FROM tasks WHERE list_contains($ids, task_id) AND prompt <> ''"  # noqa: S608
    start = _start(run)
    return {task: _words(prompt.removeprefix(start)) or task for task, prompt in run.rows(sql, {"ids": made})}


def name(run: OpenRun, task_id: str) -> str:
    """The name of one task."""
    return names(run, [task_id]).get(task_id, task_id)


@cached
def _start(run: OpenRun) -> str:
    """The words with which the prompts begin: a system prompt, a role, "Write a function"."""
    sql = f"""SELECT left(prompt, {_LOOKED_AT}) FROM tasks
              WHERE starts_with(task_id, '{MADE_ID}') AND prompt <> '' LIMIT {_SEEN}"""  # noqa: S608
    prompts = [prompt for (prompt,) in run.rows(sql)]
    first, last = min(prompts, default=""), max(prompts, default="")
    same = next((place for place, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1), len(first))
    shared = first[:same] if first != last else ""
    return shared[: max(shared.rfind(" "), shared.rfind("\n")) + 1]


def _words(text: str) -> str:
    words = " ".join(text.replace("`", "").split())
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
