"""What a format is, and the list of all formats.

A format is a module of this package with a `FORMAT`. To add one, add a file: the package is scanned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from evaluator.formats.problems import FormatError
from evaluator.model import JsonValue, Rollout, Task
from evaluator.package_modules import public_modules

Fields = Mapping[str, JsonValue]
Unwrap = Callable[[Fields], Iterable[Fields] | None]


class Role(StrEnum):
    """What the rows of a file are."""

    TASKS = "tasks"
    ROLLOUTS = "rollouts"


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


def one_per_row(read: Callable[[Fields], Rollout]) -> Callable[[Fields], Iterable[Rollout]]:
    """A `read_rollouts` for rows that hold one rollout each."""
    return lambda fields: (read(fields),)


@cache
def known_formats() -> Mapping[str, Format]:
    """Every format by its name, sorted."""
    modules = public_modules("evaluator.formats").values()
    found: list[Format] = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


@cache
def known_unwraps() -> tuple[Unwrap, ...]:
    """Every `UNWRAP` of a module of this package: what makes rows of an object that no format claims.

    It gets such an object and returns the rows in it, in order, or None where it is something else.
    """
    modules = public_modules("evaluator.formats").values()
    return tuple(module.UNWRAP for module in modules if hasattr(module, "UNWRAP"))


def format_named(name: str, role: Role) -> Format:
    """The format of this name. Raises `FormatError` if it is unknown or does not have the role."""
    formats = known_formats()
    choices = ", ".join(n for n, f in formats.items() if role in f.roles)
    if name not in formats:
        raise FormatError(f"format {name!r} is unknown: for {role}, use one of {choices}")
    if role not in formats[name].roles:
        raise FormatError(f"format {name!r} has no {role}: use one of {choices}")
    return formats[name]
