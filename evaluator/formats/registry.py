"""What a format and a kind of file are, and the lists of all of them.

A format is a `Format` in a module of this package, such as a `FORMAT`; a kind of file that is no text is a
`ContainerKind`, such as a `CONTAINER`. To add one, add a file: the package is scanned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from evaluator.formats.problems import FormatError, Problem
from evaluator.model import JsonValue, Rollout, Task
from evaluator.package_modules import public_modules

Fields = Mapping[str, JsonValue]


class Role(StrEnum):
    """What the rows of a file are."""

    TASKS = "tasks"
    ROLLOUTS = "rollouts"


class Row(NamedTuple):
    """One object of a file. `line` is the line on which it begins, or the row's number where there are no lines.

    `offset` is that of its first byte in the decompressed text; None where there is no such text.
    """

    line: int
    fields: dict[str, JsonValue]
    offset: int | None = None


class Claim(NamedTuple):
    """A format's claim that a row is its own.

    `strength` is 3 if the row's fields occur in no other format, 2 if they are typical of this one, and 1 if they are
    just enough. It is 4 for rows that say that they are ours, whatever else is in them. `why` names the fields.
    """

    strength: int
    why: str


def _prompt_field(fields: Fields) -> str:
    prompt = fields.get("prompt")
    return prompt if isinstance(prompt, str) else ""


class Format(NamedTuple):
    """One file format: how its rows are recognised and what records they become.

    `claim_*` returns None for a row of another format. `read_*` returns the records of one row and raises
    `evaluator.model.RecordError` with the field that is wrong. A format without tasks or without rollouts leaves that
    pair out. `repeats_tasks`: several rows of the same task are normal (each has a sample too) and not reported.
    `read_prompt`: the prompt of a row of rollouts; empty if the row does not have it. `from_name`: fields that only the
    file's path has, such as its step; a row's own win.
    """

    name: str
    title: str
    claim_task: Callable[[Fields], Claim | None] | None = None
    read_task: Callable[[Fields], Task] | None = None
    claim_rollout: Callable[[Fields], Claim | None] | None = None
    read_rollouts: Callable[[Fields], Iterable[Rollout]] | None = None
    repeats_tasks: bool = False
    read_prompt: Callable[[Fields], str] = _prompt_field
    from_name: Callable[[str], Fields] | None = None

    @property
    def roles(self) -> tuple[Role, ...]:
        """What can be read from such a file."""
        tasks = (Role.TASKS,) if self.read_task else ()
        rollouts = (Role.ROLLOUTS,) if self.read_rollouts else ()
        return (*tasks, *rollouts)

    def claims(self, role: Role) -> bool:
        """Whether it can recognize its own rows in this role."""
        return (self.claim_task if role is Role.TASKS else self.claim_rollout) is not None

    def claim(self, role: Role, fields: Fields) -> Claim | None:
        """The format's claim to a row in this role."""
        claim = self.claim_task if role is Role.TASKS else self.claim_rollout
        return claim(fields) if claim else None


def claim_by(strength: int, names: str, marks: str = "", *, least: int = 1) -> Callable[[Fields], Claim | None]:
    """A claim to rows that have all the fields of `names`, and at least so many of `marks`, which are `a, b, c`."""
    needed, optional = set(names.split(", ")), marks.split(", ") if marks else []

    def claim(fields: Fields) -> Claim | None:
        found = [mark for mark in optional if mark in fields]
        fits = fields.keys() >= needed and (not optional or len(found) >= least)
        return Claim(strength, ", ".join([names, *found])) if fits else None

    return claim


def one_per_row(read: Callable[[Fields], Rollout]) -> Callable[[Fields], Iterable[Rollout]]:
    """A `read_rollouts` for rows that hold one rollout each."""
    return lambda fields: (read(fields),)


class ContainerKind(NamedTuple):
    """A kind of file whose rows are read by a reader of its own.

    `claims` gets the file's first bytes (up to 4096, as they are on the disk) and its name. `open` gets the path of a
    file that can be read more than once and from any place; it yields the rows, which it reads as they are asked for,
    and a `Problem` for each that can't be read. It raises `FormatError` for a file that can't be read as a whole, and
    may let `OSError`, `ValueError`, `EOFError` and the like pass where the rest of the file is damaged: that becomes a
    `Problem` after the last row. It closes the file when it is closed itself (a generator with a `with` does).
    """

    name: str
    claims: Callable[[bytes, str], bool]
    open: Callable[[Path], Iterator[Row | Problem]]


class Claimed(NamedTuple):
    """A format's claim to a row, in a role."""

    claim: Claim
    format: Format
    role: Role


Kind = TypeVar("Kind", Format, ContainerKind)


@cache
def known_formats() -> Mapping[str, Format]:
    """Every format by its name, sorted."""
    return {each.name: each for each in _all_of(Format)}


@cache
def known_containers() -> tuple[ContainerKind, ...]:
    """Every kind of file that is no text, by name."""
    return tuple(_all_of(ContainerKind))


def _all_of(kind: type[Kind]) -> list[Kind]:
    modules = public_modules("evaluator.formats").values()
    found = {each.name: each for module in modules for each in vars(module).values() if isinstance(each, kind)}
    return [found[name] for name in sorted(found)]


def claims_of(role: Role, fields: Fields) -> list[Claimed]:
    """The formats that claim a row, likeliest first."""
    found = [Claimed(claim, f, role) for f in known_formats().values() if (claim := f.claim(role, fields)) is not None]
    return sorted(found, key=lambda each: -each.claim.strength)


def format_named(name: str, role: Role) -> Format:
    """The format of this name. Raises `FormatError` if it is unknown or does not have the role."""
    formats = known_formats()
    choices = ", ".join(n for n, f in formats.items() if role in f.roles)
    if name not in formats:
        raise FormatError(f"format {name!r} is unknown: for {role}, use one of {choices}")
    if role not in formats[name].roles:
        raise FormatError(f"format {name!r} has no {role}: use one of {choices}")
    return formats[name]
