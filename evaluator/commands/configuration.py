"""What options are set to in a file and in environment variables, and `rollscope config`, which shows it.

A setting becomes words that stand before those of the command line. So argparse checks it, and the last word wins: the
command line's, then the environment's, then the file's.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from evaluator.commands.options import COMMANDS, EVERYWHERE, Option, is_path
from evaluator.commands.output import CommandError, Exit, fail, print_json, print_table
from evaluator.commands.parsing import Parser, add_option, is_switch, opposite
from evaluator.package_modules import near

_FILE: Final = "rollscope.toml"
_PROJECT: Final = "pyproject.toml"
_PREFIX: Final = "ROLLSCOPE_"
_WORKERS: Final = "ROLLSCOPE_WORKERS"
"""Of every command. The library reads it itself."""
_OF_LIBRARY: Final = ("MACHINE_WIDE", "SERVER", "SERVER_TOKEN", "NO_BROWSER")
"""Variables that more than the command reads."""
_WORDS: Final = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}

Name = tuple[str, str]
"""A command and its option."""


class Setting(NamedTuple):
    """What an option is set to."""

    value: object
    origin: str
    """The file or the variable."""
    words: list[str]


def words_of(command: str) -> list[str]:
    """What is set for a command, as words of its command line. Raises `CommandError`."""
    return [word for (name, _), setting in _settings().items() if name == command for word in setting.words]


def show(command: str | None, *, as_json: bool) -> int:
    """Print every setting, its value and where it comes from."""
    if command is not None and command not in COMMANDS:
        raise CommandError(f"no such command: {command}{near(command, COMMANDS)}")
    settings = _settings()
    rows: list[tuple[str, object, str]] = []
    for name, key in _OPTIONS:
        if command in (None, name):
            value, origin, _ = settings.get((name, key)) or Setting(_default(_OPTIONS[name, key]), "default", [])
            rows.append((f"{name}.{key}", value, origin))
    for variable in (_PREFIX + each for each in _OF_LIBRARY):
        if value := os.environ.get(variable):
            rows.append((variable, "(set)" if variable.endswith("TOKEN") else value, "environment"))
    if as_json:
        print_json([dict(zip(("setting", "value", "from"), row, strict=True)) for row in rows])
    else:
        print_table(("setting", "value", "from"), [(name, _shown(value), origin) for name, value, origin in rows])
    return Exit.DONE


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _default(option: Option) -> object:
    """As the help says it."""
    said = re.search(r"\[default: (.*?)\]", option[1]["help"])
    return said[1] if said else False if is_switch(option) else option[1].get("default")


_OPTIONS: Final[Mapping[Name, Option]] = {
    (name, option[0][-1].removeprefix("--")): option
    for name, command in COMMANDS.items()
    if name != "config"
    for option in (*command.options, *EVERYWHERE)
    if option[0][-1].startswith("--")
}


def _settings() -> dict[Name, Setting]:
    """Of all commands. Raises `CommandError` for the last of what is wrong, after a line on stderr for each other."""
    found: dict[Name, Setting] = {}
    wrong: list[str] = []
    for origin, place, name, value in (*_in_file(), *_in_environment()):
        try:
            found[name] = Setting(value, origin, _words(name, value) if origin != _WORKERS else [])
        except ValueError as error:
            wrong.append(f"{place}: {error}")
    for line in wrong[:-1]:
        fail(line, Exit.BAD_INPUT)
    if wrong:
        raise CommandError(wrong[-1])
    return found


Found = tuple[str, str, Name, Any]
"""Where a setting is, in short and with its key; its name, and its value."""


def _in_file() -> Iterator[Found]:
    for folder in (Path.cwd(), *Path.cwd().parents):
        for path in (folder / _FILE, folder / _PROJECT):
            if path.is_file() and (tables := _tables(path)) is not None:
                yield from _in_tables(path, tables)
                return


def _tables(path: Path) -> dict[str, Any] | None:
    """None for a file without our settings."""
    if path.stat().st_uid not in (os.getuid(), 0):  # who could name a grader to run
        with suppress(OSError, ValueError):
            if path.name == _FILE or "tool.rollscope" in path.read_text(encoding="utf-8-sig"):
                print(f"{path}: ignored: it belongs to another user: make it yours to use it", file=sys.stderr)
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.name == _PROJECT and "tool.rollscope" not in text:
            return None
        content = tomllib.loads(text)
    except ValueError as error:
        raise CommandError(f"{path}: not TOML: {error}") from None
    tables: Any = content if path.name == _FILE else content.get("tool", {}).get("rollscope")
    return tables if isinstance(tables, dict) or tables is None else {path.name: tables}


def _in_tables(path: Path, tables: dict[str, Any]) -> Iterator[Found]:
    for command, table in tables.items():
        for key, value in (table if isinstance(table, dict) else {"": table}).items():
            name = (command, key.replace("_", "-"))
            place = f"{path}: {command}.{key}".removesuffix(".")
            yield str(path), place, name, _anchored(name, value, path.parent)


def _anchored(name: Name, value: Any, folder: Path) -> Any:
    """A path in a file counts from the file's folder."""
    option = _OPTIONS.get(name)
    if option is None or not isinstance(value, str) or not is_path(option):
        return value
    is_word = "/" not in value and not (folder / value.partition(":")[0]).exists()  # none, lcb, a grader's name
    if "://" in value or (is_word and "|" in option[1]["metavar"]):
        return value
    return str(folder / Path(value).expanduser())


def _in_environment() -> Iterator[Found]:
    if workers := os.environ.get(_WORKERS):
        yield from ((_WORKERS, _WORKERS, name, workers) for name in _OPTIONS if name[1] == "workers")
    for variable, text in sorted(os.environ.items()):
        for command in COMMANDS:
            prefix = f"{_PREFIX}{command}_".upper().replace("-", "_")
            if variable.startswith(prefix) and text:
                name = (command, variable.removeprefix(prefix).lower().replace("_", "-"))
                option = _OPTIONS.get(name)
                value = _WORDS.get(text.lower(), text) if option and is_switch(option) else text
                yield variable, variable, name, value


def _words(name: Name, value: Any) -> list[str]:
    """The words that set an option to a value. Raises `ValueError`."""
    command, key = name
    if command not in COMMANDS:
        raise ValueError(f"no such table{near(command, COMMANDS) or ': give those of commands, such as [grade]'}")
    option = _OPTIONS.get(name)
    if option is None:
        known = [each for of, each in _OPTIONS if of == command]
        raise ValueError(f"no such setting{near(key, known)}")
    words = _as_words(option, value)
    check = _Check(add_help=False, allow_abbrev=False)
    add_option(check, (option[0], option[1] | {"required": False} if "required" in option[1] else option[1]))
    check.parse_args(words)
    return words


def _as_words(option: Option, value: Any) -> list[str]:
    flag = option[0][-1]
    if is_switch(option):
        if not isinstance(value, bool):
            raise ValueError(f"{value!r} is neither true nor false")
        return [flag if value else opposite(flag)]
    values = value if isinstance(value, list) and option[1].get("action") == "append" else [value]
    for each in values:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise ValueError(f"{each!r} is neither text nor a number")  # noqa: TRY004
    return [f"{flag}={each}" for each in values]


class _Check(Parser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message.partition(": ")[2])
