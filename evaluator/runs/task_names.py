"""What a task is called on pages and in tables: its id, or its prompt's own words if the id is made from the prompt."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, Final

from evaluator.tasks.parts import MADE_ID

Query = Callable[[str, dict[str, Any]], list[tuple[Any, ...]]]
"""The rows of an SQL query on a run's tables, with its parameters."""

_LOOKED_AT: Final = 4_000
"""Characters of a prompt."""
_LONGEST: Final = 32
_END: Final = 10
"""Characters of the words at the end of a name that was cut in the middle: they must fit where there is little room."""
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
    a name ends where its prompt differs from every other: `counts_above(items) … above 3`. A page with little room
    keeps the words after ` … `.
    """
    made = [task for task in ids if task.startswith(MADE_ID)]
    found = {}
    for task, words, *near, first, last in query(_MADE, {"ids": made}) if made else ():
        start = _shared(first, last) if first != last else ""
        cut = max(start.rfind(" "), start.rfind("\n")) + 1
        if words in near:
            found[task] = f"{_in_line(words[cut:])[:_CLEAR].rstrip()} … {task[-4:]}"
        else:
            found[task] = _name(words, cut, max(len(_shared(words, other)) for other in near)) or task
    times = Counter(found.values())
    return {task: name if times[name] == 1 else f"{name} {task[-4:]}" for task, name in found.items()}


def _shared(one: str, other: str) -> str:
    return os.path.commonprefix((one, other))  # noqa: RUF071 of characters, which is what is wanted


def _name(prompt: str, start: int, same: int) -> str:
    """Of a prompt whose first `start` characters all others have too, and one of them its first `same`."""
    text = _in_line(prompt[start:])
    if len(_in_line(prompt[start:same])) < _CLEAR:
        return _cut(text, _LONGEST)
    own = (prompt[same:].split(None, 1) or [""])[0]
    until = _in_line(prompt[start : prompt.index(own, same) + len(own)]).rstrip(",.;:") if own else text
    if len(until) <= _LONGEST:
        return until
    words = until.split()
    last = words.pop()
    end = last if len(last) <= _END else _cut(last[-max(_END, len(own)) :], _END)
    head = words.pop(0) if words else last
    while words and len(head) < _CLEAR:
        head += f" {words.pop(0)}"
    room = min(_END, _LONGEST - len(head) - 3)
    while words and len(words[-1]) + 1 + len(end) <= room:
        end = f"{words.pop()} {end}"
    return f"{_cut(head, _LONGEST - len(end) - 3).removesuffix('…')} … {end}"


def _cut(text: str, most: int) -> str:
    """The first words of a text; of a word that is longer its beginning."""
    if len(text) <= most:
        return text
    whole = text[:most].rpartition(" ")[0] or text[: most - 1]
    return f"{whole.rstrip(',.;:')}…"


def _in_line(text: str) -> str:
    return " ".join(text.replace("`", "").split())
