"""How a grader is named: in a task's row, in a run's configuration, on the command line.

One text names the grader and its options:

- `NAME`, such as `tests`;
- `NAME:key=value,key=value`, such as `tests:reward=fraction`; a value is read as JSON if possible, else as text;
- a JSON object with `name` and the options, such as `{"name": "exact_match", "case": "ignore"}`;
- `FILE.py:FUNCTION`, a function of your own (see `graders.own_function`); not in a row, because a dataset from
  elsewhere must not decide what is loaded here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from evaluator.graders.grader import GraderError
from evaluator.model import JsonValue
from evaluator.tasks import long_numbers


class GraderSpec(msgspec.Struct, frozen=True):
    """A grader's name and its options; or, with a file, the name of a function there."""

    name: str
    options: dict[str, JsonValue] = {}
    file: str | None = None


def parse_spec(text: str) -> GraderSpec:
    """Parses a grader's text. Raises `GraderError`."""
    stripped = text.strip()
    if stripped.startswith("{"):
        return _from_json(stripped)
    file, colon, function = stripped.rpartition(":")
    if colon and file.endswith(".py"):
        return GraderSpec(function, {}, file)
    name, colon, options = stripped.partition(":")
    if not colon:
        return GraderSpec(name)
    return GraderSpec(name, dict(_option(pair, text) for pair in options.split(",")))


def _from_json(text: str) -> GraderSpec:
    try:
        row = long_numbers.loads(text)
    except ValueError as error:
        raise GraderError(f"grader is not a JSON object: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        raise GraderError('grader has no "name": give for example {"name": "tests"}')
    name = row.pop("name")
    if name.rpartition(":")[0].endswith(".py"):
        if row:
            raise GraderError(f"grader {name} takes no options: remove {', '.join(row)}")
        return parse_spec(name)
    return GraderSpec(name, row)


def _option(pair: str, text: str) -> tuple[str, JsonValue]:
    key, equals, value = pair.partition("=")
    if not equals or not key.strip():
        raise GraderError(f"grader {text!r}: {pair!r} must be key=value")
    try:
        return key.strip(), long_numbers.loads(value)
    except ValueError:
        return key.strip(), value


def names_file(text: str) -> bool:
    """Whether a grader, or a part of it, is a function in a file. Raises `GraderError`."""
    return bool(files_named(text))


def files_named(text: str) -> list[str]:
    """The files of functions that a grader, or a part of it, is. Raises `GraderError`."""
    spec = parse_spec(text)
    return [spec.file] if spec.file is not None else [file for part in _parts(spec) for file in files_named(part)]


def anchored(text: str, folder: Path) -> str:
    """The same grader with full paths, those of files relative to `folder`. Raises `GraderError`."""
    spec = parse_spec(text)
    if spec.file is not None:
        return f"{(folder / Path(spec.file).expanduser()).resolve()}:{spec.name}"
    if not names_file(text):
        return text
    parts = [
        {**part, "grader": anchored(text_of(part["grader"]), folder)} if _is_part(part) else part
        for part in spec.options["graders"]
    ]
    return json.dumps({"name": spec.name, **spec.options, "graders": parts}, sort_keys=True)


def _parts(spec: GraderSpec) -> Iterator[str]:
    """The graders of its parts; an invalid part is reported when the grader is made."""
    parts = spec.options.get("graders")
    for part in parts if isinstance(parts, list) else ():
        if _is_part(part):
            yield text_of(part["grader"])


def _is_part(part: JsonValue) -> bool:
    return isinstance(part, dict) and isinstance(part.get("grader"), str | dict)


def text_of(grader: JsonValue) -> str:
    """A grader in a text, from a text or an object."""
    return grader if isinstance(grader, str) else json.dumps(grader, sort_keys=True)
