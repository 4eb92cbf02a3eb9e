"""Kinds of grading. A grader takes a task and a rollout's code, and makes a `Grade`.

Each public module of this package is one kind, known by the module's name, if it defines

- `Config`, a `msgspec.Struct` of its options, all with defaults or reported as missing in one line, and
- `make(config) -> Grader`.

A new kind is a new file here. `evaluator.graders.spec` says how a grader and its options are named.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import NoReturn, cast, get_args, get_type_hints

import msgspec

from evaluator.cases import Bench
from evaluator.checkers import get_checker
from evaluator.graders.answers import answer_grader
from evaluator.graders.grader import Grader, GraderError
from evaluator.graders.spec import GraderSpec, anchored, names_file, parse_spec
from evaluator.model import Mode, Task, TestCase
from evaluator.options import Options
from evaluator.package_modules import near, public_module, public_modules
from evaluator.suites.reading import UngradableError

__all__ = [
    "Bench",
    "Grader",
    "GraderError",
    "get_grader",
    "grader_of",
    "grader_or_refusal",
    "known_graders",
    "needs_tasks",
    "shown_cases",
    "with_known_names",
]


@lru_cache(256)
def get_grader(text: str) -> Grader:
    """The grader that a text names, with its options (see `evaluator.graders.spec`). Raises `GraderError`."""
    spec = parse_spec(text)
    if spec.file is not None:
        from evaluator.graders.own_function import own_grader

        return own_grader(spec.file, spec.name)
    module = public_module(__name__, spec.name)
    if module is None or not hasattr(module, "make"):
        known = known_graders()
        names = ", ".join(known)
        raise GraderError(
            f"grader {spec.name!r} is unknown{near(spec.name, known)}: give one of {names}, or FILE.py:FUNCTION"
        )
    return cast("Grader", module.make(_config(spec, module.Config)))


def with_known_names(options: Options) -> Options:
    """The options, with full paths of files. Raises `GraderError` or `CheckerError` for a name that there is not."""
    if options.checker is not None:
        get_checker(options.checker)
    if options.grader is None:
        return options
    text = anchored(options.grader.strip(), Path.cwd())
    get_grader(text)
    return msgspec.structs.replace(options, grader=text)


def grader_of(task: Task, requested: str | None) -> Grader:
    """A task's grader: the row's, else the one requested for the run, else the mode's own. Raises `GraderError`.

    The row's is ignored if the run's grader needs no tasks.
    """
    if task.grader and needs_tasks(requested):
        return _grader_of_row(task.grader)
    return get_grader(requested or ("exact_match" if task.mode is Mode.ANSWER else "tests"))


@lru_cache(256)
def _grader_of_row(text: str) -> Grader:
    if names_file(text):
        raise GraderError(f"grader {text!r}: a row may not name a file: name it with --grader")
    return get_grader(text)


def grader_or_refusal(task: Task, requested: str | None) -> Grader:
    """The task's grader; if it has no valid one, a grader that runs nothing and refuses it."""
    try:
        return grader_of(task, requested)
    except GraderError as error:
        why = str(error)

    def refuse(*_: object) -> NoReturn:
        raise UngradableError(why)

    return answer_grader("an unknown grader", refuse, refuse)


def needs_tasks(requested: str | None) -> bool:
    """Whether a run's grader needs a dataset."""
    try:
        return requested is None or get_grader(requested).needs_tasks
    except GraderError:
        return True


def shown_cases(task: Task, requested: str | None) -> tuple[TestCase, ...]:
    """The test cases that the task's grader decides; none if it can't be graded."""
    return grader_or_refusal(task, requested).test_cases(task)


@cache
def known_graders() -> dict[str, ModuleType]:
    """The module of each kind by name, in alphabetical order."""
    return {name: module for name, module in public_modules(__name__).items() if hasattr(module, "make")}


def _config(spec: GraderSpec, config: type[msgspec.Struct]) -> msgspec.Struct:
    try:
        return msgspec.convert(spec.options, config)
    except msgspec.ValidationError as error:
        raise GraderError(f"grader {spec.name}: {error} ({_hint(str(error), config)})") from None


def _hint(message: str, config: type[msgspec.Struct]) -> str:
    """The values that the wrong option may have, if they can be listed; else the options."""
    place = re.search(r"`\$\.(\w+)`$", message)
    choices = get_args(get_type_hints(config).get(place[1])) if place else ()
    if choices and all(isinstance(choice, str) for choice in choices):
        return f"one of {', '.join(choices)}"
    return f"options: {', '.join(config.__struct_fields__) or 'none'}"
