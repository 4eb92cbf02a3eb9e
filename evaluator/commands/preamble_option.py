"""`--preamble`: the code before every completion, in place of the tasks' own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evaluator import syntax
from evaluator.commands.failure import CommandError
from evaluator.import_headers import LIVECODEBENCH

_NAMED: Final = {"none": "", "lcb": LIVECODEBENCH}


def preamble_text(given: str | None) -> str | None:
    """The requested code; None for the tasks' own. Raises `CommandError` for a file that is not Python."""
    if given is None or given in _NAMED:
        return _NAMED.get(given or "")
    path, instead = Path(given).expanduser(), "give a Python file, none or lcb"
    try:
        text = path.read_text(encoding="utf-8-sig")
        syntax.parse(text, str(path))
    except OSError as error:
        raise CommandError(f"--preamble: {path} can't be read: {error.strerror}: {instead}") from None
    except SyntaxError as error:
        raise CommandError(f"--preamble: {path}:{error.lineno}: {error.msg}: fix this line, or {instead}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CommandError(f"--preamble: {path} is not Python: {error}: {instead}") from None
    return text
