"""What a format is, and the list of those there are.

A format is a module of this package with a `FORMAT`. Adding one is adding a file: the package is scanned.
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


class Role(StrEnum):
    """What the rows of a file are."""

    TASKS = "tasks"
    ROLLOUTS = "rollouts"


class Claim(NamedTuple):
    """A format's word that a row is its own.

    `strength` is 3 where the row's fields occur in no other format, 2 where they are usual for this one and
    1 where they merely suffice. `why` names the fields.
    """

    strength: int
    why: str


def _prompt_field(fields: Fields) -> str:
    prompt = fields.get("prompt")
    return prompt if isinstance(prompt, str) else ""


class Format(NamedTuple):
    """One file format: how its rows are recognised and what records they become.

    `claim_*` gives None for a row that is not of this format. `read_*` yields the records of one row and
    raises `evaluator.model.RecordError` with the field that is wrong. A format without tasks or without
    rollouts leaves that pair out. `repeats_tasks`: rows of the same task are usual (each carries a sample
    too) and the later ones are no problem. `read_prompt`: what was asked for the rollouts of a row that has been read;
    empty where the row does not say.
    """

    name: str
    title: str
    claim_task: Callable[[Fields], Claim | None] | None = None
    read_task: Callable[[Fields], Task] | None = None
    claim_rollout: Callable[[Fields], Claim | None] | None = None
    read_rollouts: Callable[[Fields], Iterable[Rollout]] | None = None
    repeats_tasks: bool = False
    read_prompt: Callable[[Fields], str] = _prompt_field

    @property
    def roles(self) -> tuple[Role, ...]:
        """What can be read from such a file."""
        tasks = (Role.TASKS,) if self.read_task else ()
        rollouts = (Role.ROLLOUTS,) if self.read_rollouts else ()
        return (*tasks, *rollouts)

    def claim(self, role: Role, fields: Fields) -> Claim | None:
        """The format's claim to a row in this role."""
        claim = self.claim_task if role is Role.TASKS else self.claim_rollout
        return claim(fields) if claim else None


@cache
def known_formats() -> Mapping[str, Format]:
    """Every format by its name, sorted."""
    modules = public_modules("evaluator.formats").values()
    found: list[Format] = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def format_named(name: str, role: Role) -> Format:
    """The format of this name. Raises `FormatError` when there is none, or none that has the role."""
    formats = known_formats()
    able = ", ".join(n for n, f in formats.items() if role in f.roles)
    if name not in formats:
        raise FormatError(f"format {name!r} is not known: {role} can be read from {able}")
    if role not in formats[name].roles:
        raise FormatError(f"format {name!r} has no {role}: these have: {able}")
    return formats[name]
