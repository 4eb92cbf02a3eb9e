"""What a format and a kind of file are, and the lists of all of them.

A format is a `Format` in a module of `evaluator.formats`, such as a `FORMAT`; a kind of file that is no text is a
`ContainerKind`, such as a `CONTAINER`. To add one, add a file: the package is scanned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path, PurePath
from typing import NamedTuple, TypeVar

from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.problems import FormatError, Problem
from evaluator.formats.reading.spec import NO_ROLLOUTS, NO_TASKS, Claim, Claims, Rollouts, Tasks, may_fit
from evaluator.model import JsonValue
from evaluator.package_modules import near, public_modules


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


class Format(NamedTuple):
    """One file format: what its rows become, in each role that it has.

    `repeats_tasks`: several rows of the same task are normal, and not reported, even if none has a sample too.
    `from_name`: fields that only the file's path has, such as its step; a row's own win.
    """

    name: str
    title: str
    tasks: Tasks = NO_TASKS
    rollouts: Rollouts = NO_ROLLOUTS
    repeats_tasks: bool = False
    from_name: Callable[[str], Fields] | None = None

    @property
    def roles(self) -> tuple[Role, ...]:
        """What can be read from such a file."""
        tasks = () if self.tasks is NO_TASKS else (Role.TASKS,)
        return tasks if self.rollouts is NO_ROLLOUTS else (*tasks, Role.ROLLOUTS)

    def claims(self, role: Role) -> Claims | None:
        """What recognizes its own rows in this role, if anything can."""
        return self.tasks.claim if role is Role.TASKS else self.rollouts.claim

    def claim(self, role: Role, fields: Fields) -> Claim | None:
        """The format's claim to a row in this role."""
        claims = self.claims(role)
        return claims(fields) if claims else None


def step_in(pattern: str, name: str = "step") -> Callable[[str], Fields]:
    """A `from_name` for the step that the pattern's group finds in the last parts of a path."""
    compiled = re.compile(pattern)

    @lru_cache(maxsize=64)  # asked for each row
    def from_name(path: str) -> Fields:
        found = compiled.search("/".join(PurePath(path).parts[-4:]))
        return {name: int(found[1])} if found else {}

    return from_name


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


class Refusal(NamedTuple):
    """A kind of file that is known and not read: what shows it, and what to say of it."""

    name: str
    claim: Claims
    message: str


class Claimed(NamedTuple):
    """A format's claim to a row, in a role."""

    claim: Claim
    format: Format
    role: Role


Kind = TypeVar("Kind", Format, ContainerKind, Refusal)


@cache
def known_formats() -> Mapping[str, Format]:
    """Every format by its name, sorted."""
    return {each.name: each for each in _all_of(Format)}


@cache
def known_containers() -> tuple[ContainerKind, ...]:
    """Every kind of file that is no text, by name."""
    return tuple(_all_of(ContainerKind))


@cache
def known_refusals() -> tuple[Refusal, ...]:
    """Every kind of file that is known and not read, by name."""
    return tuple(_all_of(Refusal))


def _all_of(kind: type[Kind]) -> list[Kind]:
    packages = ("evaluator.formats", "evaluator.formats.reading")
    modules = [module for package in packages for module in public_modules(package).values()]
    found = {
        each.name: each for module in modules for each in vars(module).values() if isinstance(each, kind) and each.name
    }
    return [found[name] for name in sorted(found)]


def claims_of(role: Role, fields: Fields) -> list[Claimed]:
    """The formats that claim a row, likeliest first."""
    formats = _may_claim(role, frozenset(fields))
    found = [Claimed(claim, each, role) for each in formats if (claim := each.claim(role, fields)) is not None]
    return sorted(found, key=lambda each: -each.claim.strength)


@lru_cache(maxsize=1024)
def _may_claim(role: Role, names: frozenset[str]) -> list[Format]:
    """The formats that may claim a row with these fields."""
    return [each for each in known_formats().values() if may_fit(each.claims(role), names)]


def format_named(name: str, role: Role) -> Format:
    """The format of this name. Raises `FormatError` if it is unknown or does not have the role."""
    formats = known_formats()
    fit = [n for n, f in formats.items() if role in f.roles]
    choices = ", ".join(fit)
    if name not in formats:
        raise FormatError(f"format {name!r} is unknown{near(name, fit)}: for {role}, use one of {choices}")
    if role not in formats[name].roles:
        raise FormatError(f"format {name!r} has no {role}: use one of {choices}")
    return formats[name]
