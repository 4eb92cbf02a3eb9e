"""What a task is called on pages and in tables: its id, or its prompt's own words if the id is made from the prompt."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Collection
from typing import Any, Final

from evaluator.tasks.parts import MADE_ID

Query = Callable[[str, dict[str, Any]], list[tuple[Any, ...]]]
"""The rows of an SQL query on a run's tables, with its parameters."""

_LOOKED_AT: Final = 4_000
"""Characters of a prompt."""
_LONGEST: Final = 48
_CLEAR: Final = 8
"""Names that differ before so many characters tell tasks apart however narrow their column is."""
_MADE: Final = f"""
    WITH made AS (SELECT task_id, left(prompt, {_LOOKED_AT}) AS words FROM tasks
                  WHERE starts_with(task_id, '{MADE_ID}') AND prompt <> ''),
         sorted AS (SELECT *, coalesce(lag(words) OVER near, '') AS one, coalesce(lead(words) OVER near, '') AS other
                    FROM made WINDOW near AS (ORDER BY words))
    SELECT *, (SELECT min(words) FROM made), (SELECT max(words) FROM made) FROM sorted
    WHERE list_contains($ids, task_id)"""  # noqa: S608


def names(query: Query, ids: Collection[str]) -> dict[str, str]:
    """The names of those tasks that are not called by their ids. What all prompts begin with is left out of them, and
    a name ends where its prompt differs from every other, so that a name cut in the middle still tells tasks apart.
    """
    made = [task for task in ids if task.startswith(MADE_ID)]
    found = {}
    for task, words, *near, first, last in query(_MADE, {"ids": made}) if made else ():
        start = _shared(first, last) if first != last else ""
        cut = max(start.rfind(" "), start.rfind("\n")) + 1
        if words in near:
            found[task] = f"{_in_line(words[cut:])[:_CLEAR]}… {task[-4:]}"
        else:
            found[task] = _name(words, cut, max(len(_shared(words, other)) for other in near)) or task
    return found


def _shared(one: str, other: str) -> str:
    return os.path.commonprefix((one, other))  # noqa: RUF071 of characters, which is what is wanted


def _name(prompt: str, start: int, same: int) -> str:
    """Of a prompt whose first `start` characters all others have too, and one of them its first `same`."""
    text = _in_line(prompt[start:])
    if len(_in_line(prompt[start:same])) < _CLEAR:
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    own = prompt[same:].split(None, 1)[:1]
    until = _in_line(prompt[start : prompt.index(own[0], same) + len(own[0])]).rstrip(",.;:") if own else text
    half = _LONGEST // 2 - 1
    cut = until if len(until) < _LONGEST else f"{until[:half].rstrip()}…{until[-half:].lstrip()}"
    return cut if until == text else f"{cut}…"


def _in_line(text: str) -> str:
    return " ".join(text.replace("`", "").split())
