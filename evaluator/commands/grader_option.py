"""`--grader`: a name with options, a JSON object, a file that holds one, or a function in the user's file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from evaluator.commands.failure import CommandError
from evaluator.graders import get_grader
from evaluator.graders.spec import anchored
from evaluator.model import JsonValue

_READERS = {".json": json.loads, ".toml": tomllib.loads}


def grader_text(given: str | None) -> str | None:
    """The requested grader as one text that means the same in every folder; a run stores it for `--resume`.

    Raises `GraderError` or `CommandError` if it names no valid grader.
    """
    if given is None:
        return None
    path = Path(given).expanduser()
    if path.suffix.lower() in _READERS and not given.lstrip().startswith("{"):
        text = anchored(json.dumps(_read(path), sort_keys=True), path.resolve().parent)
    else:
        text = anchored(given.strip(), Path.cwd())
    get_grader(text)
    return text


def _read(path: Path) -> dict[str, JsonValue]:
    kind = path.suffix.lower()
    try:
        row = _READERS[kind](path.read_text(encoding="utf-8-sig"))
        json.dumps(row)  # rejects TOML's dates, which no option takes
    except (ValueError, TypeError, RecursionError) as error:
        raise CommandError(f"{path}: can't be read as {kind[1:].upper()}: {error}") from None
    if not isinstance(row, dict):
        raise CommandError(f'{path}: must hold an object, for example {{"name": "tests"}}')
    return row
