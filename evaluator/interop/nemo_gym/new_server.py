"""Writes the folder of a new, working resource server from the files in `_template/`.

Files that end in `.template` get `$name`, `$class_name` and so on filled in; the others are copied.
"""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import Final

import evaluator

_TEMPLATE: Final = Path(__file__).parent / "_template"
_ENDING: Final = ".template"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_NAME: Final = 40


class NewServerError(ValueError):
    """The folder can't be written. One line that says why and how to fix it."""


def write_server(folder: Path, name: str | None = None) -> list[Path]:
    """Writes a server's files into a new or empty folder and returns their paths.

    `name`: the server's in NeMo Gym's configuration; None: the folder's. Raises `NewServerError`.
    """
    name = _checked_name(folder, name)
    if folder.is_symlink() or folder.exists():
        _require_empty(folder)
    words = {
        "name": name,
        "class_name": "".join(part.capitalize() for part in name.split("_")) + "ResourcesServer",
        "agent_name": f"{name}_simple_agent",
        "requirement": requirement(),
    }
    written = []
    for source in sorted(path for path in _TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        path = source.relative_to(_TEMPLATE)
        target = folder / str(path).removesuffix(_ENDING).replace("server.yaml", f"{name}.yaml")
        text = source.read_text(encoding="utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(text).substitute(words) if source.suffix == _ENDING else text, encoding="utf-8")
        written.append(target)
    return written


def requirement() -> str:
    """The requirement that installs this version of Rollscope, or this checkout."""
    root = Path(evaluator.__file__).resolve().parent.parent
    if (root / "pyproject.toml").is_file() and (root / "tools" / "hatch_build.py").is_file():
        return f"-e {root.as_uri()}\nrollscope[serve]"
    return f"rollscope[serve]=={evaluator.__version__}"


def _checked_name(folder: Path, name: str | None) -> str:
    given = folder.resolve().name if name is None else name
    if _NAME.fullmatch(given) and len(given) <= _LONGEST_NAME:
        return given
    better = re.sub(r"[^a-z0-9]+", "_", given.lower()).strip("_")[:_LONGEST_NAME]
    if not _NAME.fullmatch(better):
        better = "my_task"
    raise NewServerError(
        f"{given[:80]!r} can't be a server's name (lower-case letters, digits and _, a letter first, at most"
        f" {_LONGEST_NAME}): give --name {better}"
    )


def _require_empty(folder: Path) -> None:
    if not folder.is_dir():
        raise NewServerError(f"{folder}: a file of that name exists: give another folder")
    found = next(iter(sorted(path.name for path in folder.iterdir())), None)
    if found is not None:
        raise NewServerError(f"{folder}: not empty (it has {found}): give a new folder")
