"""How a grader is named: in a task's row, in a run's configuration, on the command line.

One text says which grader and with which options:

- `NAME`, such as `tests`;
- `NAME:key=value,key=value`, such as `tests:reward=fraction`; a value is JSON where it can be read as that, else text;
- a JSON object with `name` and the options, such as `{"name": "exact_match", "case": "ignore"}`;
- `FILE.py:FUNCTION`, a function of your own (see `graders.own_function`); not in a row, for a dataset that came from
  somewhere must not decide what is loaded here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from evaluator.graders.grader import GraderError
from evaluator.model import JsonValue


class GraderSpec(msgspec.Struct, frozen=True):
    """A grader's name and its options; or, with a file, the name of a function there."""

    name: str
    options: dict[str, JsonValue] = {}
    file: str | None = None


def parse_spec(text: str) -> GraderSpec:
    """What a grader's text says. Raises `GraderError`."""
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
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GraderError(f"grader is no JSON object: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        raise GraderError('grader has no "name": give for instance {"name": "tests"}')
    name = row.pop("name")
    if name.rpartition(":")[0].endswith(".py"):
        if row:
            raise GraderError(f"grader {name} takes no options, and {', '.join(row)} was given")
        return parse_spec(name)
    return GraderSpec(name, row)


def _option(pair: str, text: str) -> tuple[str, JsonValue]:
    key, equals, value = pair.partition("=")
    if not equals or not key.strip():
        raise GraderError(f"grader {text!r}: {pair!r} is no key=value")
    try:
        return key.strip(), json.loads(value)
    except (ValueError, RecursionError):
        return key.strip(), value


def names_file(text: str) -> bool:
    """Whether a grader, or one that it is made of, is a function in a file. Raises `GraderError`."""
    spec = parse_spec(text)
    return spec.file is not None or any(names_file(part) for part in _parts(spec))


def anchored(text: str, folder: Path) -> str:
    """The same grader in a text that means the same in every folder: files are looked for from `folder`.

    Raises `GraderError`.
    """
    spec = parse_spec(text)
    if spec.file is not None:
        return f"{(folder / Path(spec.file).expanduser()).resolve()}:{spec.name}"
    if not any(names_file(part) for part in _parts(spec)):
        return text
    parts = [
        {**part, "grader": anchored(_text_of(part["grader"]), folder)} if _is_part(part) else part
        for part in spec.options["graders"]
    ]
    return json.dumps({"name": spec.name, **spec.options, "graders": parts}, sort_keys=True)


def _parts(spec: GraderSpec) -> Iterator[str]:
    """The graders that one is made of; what is no part is told of when the grader is made."""
    parts = spec.options.get("graders")
    for part in parts if isinstance(parts, list) else ():
        if _is_part(part):
            yield _text_of(part["grader"])


def _is_part(part: JsonValue) -> bool:
    return isinstance(part, dict) and isinstance(part.get("grader"), str | dict)


def _text_of(grader: JsonValue) -> str:
    return grader if isinstance(grader, str) else json.dumps(grader, sort_keys=True)
