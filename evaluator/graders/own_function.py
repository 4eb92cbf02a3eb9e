"""A grader of the user's own: a function in a file of theirs, which is trusted as any program that they run.

    def brevity(task, rollout, bench):
        return 1.0 if len(rollout.completion) < 500 else 0.5

It gives a number; or a `dict` with `reward` and, if it likes, `message` and `components` (name -> number); or a whole
`Grade`; None says that it can't tell. A number that is the highest of the range is `passed`, any other `wrong_answer`.
What raises, or gives anything else, costs that rollout its grade (`unknown`, flagged), never the run.

What the file says beside it: `RANGE = (lowest, highest)`, 0 to 1 where it does not; `RUNS_CODE = False` where no
sandbox is needed; `WAITS = 16` where so many may be graded at once because others do the work. It may import its
neighbours. To grade by tests first: `evaluator.graders.tests.grade(task, rollout, bench)`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import numbers
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import msgspec

from evaluator.graders.answers.grades import begun
from evaluator.graders.bench import Bench
from evaluator.graders.grader import Grader, GraderError
from evaluator.graders.tests import test_cases
from evaluator.model import Component, Flag, Grade, Rollout, Task, Verdict
from evaluator.sandbox import FaultError, SandboxUnavailable

USUAL_RANGE = (0, 1)
_SHOWN = 500
_MOST_AT_ONCE = 256
_WANTED = "a number, a dict with reward, a Grade or None is wanted"

Function = Callable[[Task, Rollout, Bench], object]


class _BadResultError(ValueError):
    """What a function gave is no grade. The message says what it was."""


def own_grader(file: str, function: str) -> Grader:
    """The function of that name in that file. Raises `GraderError`."""
    module = _loaded(Path(file).expanduser().resolve())
    found = getattr(module, function, None)
    if not callable(found):
        raise GraderError(f"{file}: defines no function {function!r}")
    lowest, highest = _range(file, module)
    name = f"{Path(file).name}:{function}"

    def grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
        return _graded(found, name, highest, task, rollout, bench)

    return Grader(
        name,
        grade,
        test_cases,
        lowest=lowest,
        highest=highest,
        runs_code=bool(getattr(module, "RUNS_CODE", True)),
        waits=_waits(file, module),
    )


@lru_cache(64)
def _loaded(path: Path) -> ModuleType:
    if not path.is_file():
        raise GraderError(f"{path}: no such file: give FILE.py:FUNCTION")
    name = f"rollscope_grader_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise GraderError(f"{path}: can't be loaded: give FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last: its neighbours may not stand in for what is installed
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise GraderError(f"{path}: can't be loaded: {_in_one_line(error)}") from error
    return module


def _range(file: str, module: ModuleType) -> tuple[float, float]:
    given = getattr(module, "RANGE", USUAL_RANGE)
    try:
        lowest, highest = (float(end) for end in given)
    except (TypeError, ValueError, OverflowError):
        lowest, highest = math.nan, math.nan
    if not (math.isfinite(lowest) and math.isfinite(highest) and lowest < highest):
        raise GraderError(f"{file}: RANGE is {given!r}: give two numbers, the lower one first")
    return lowest, highest


def _waits(file: str, module: ModuleType) -> int:
    given = getattr(module, "WAITS", 0)
    if not isinstance(given, int) or not 0 <= given <= _MOST_AT_ONCE:
        raise GraderError(f"{file}: WAITS is {given!r}: give a whole number from 0 to {_MOST_AT_ONCE}")
    return given


def _graded(function: Function, name: str, highest: float, task: Task, rollout: Rollout, bench: Bench) -> Grade:
    try:
        given = function(task, rollout, bench)
    except (FaultError, SandboxUnavailable):
        raise
    except (Exception, SystemExit) as error:
        return _flagged("grader_failed", f"{name} raised {_in_one_line(error)}", rollout, name)
    try:
        return _grade_from(given, name, highest, rollout)
    except _BadResultError as error:
        return _flagged("bad_reward", f"{name} gave {error}", rollout, name)


def _grade_from(given: object, name: str, highest: float, rollout: Rollout) -> Grade:
    """Raises `_BadResultError`."""
    if isinstance(given, Grade):
        return _checked(given, name, rollout)
    message: object = None
    components: tuple[Component, ...] = ()
    if isinstance(given, Mapping):
        if "reward" not in given:
            raise _BadResultError(f"a dict without reward: {_WANTED}")
        message, components = given.get("message"), _components(given.get("components") or {})
        given = given["reward"]
    grade = begun(rollout, name)
    grade.components = components
    grade.error_message = None if message is None else str(message)[:_SHOWN]
    if given is None:
        grade.error_message = grade.error_message or f"{name} could not tell"
        return grade
    grade.reward = _number(given)
    grade.verdict = Verdict.PASSED if grade.reward >= highest else Verdict.WRONG_ANSWER
    return grade


def _checked(given: Grade, name: str, rollout: Rollout) -> Grade:
    """A copy of a grade that somebody else made, its fields of the types that they should have."""
    try:
        grade = msgspec.convert(msgspec.to_builtins(given), Grade)
    except (msgspec.ValidationError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _BadResultError(f"a Grade that is none: {error}") from None
    if grade.reward is None and grade.verdict.graded:
        raise _BadResultError(f"a Grade that is {grade.verdict} and has no reward")
    grade.grader, grade.task_id, grade.sample_id = name, rollout.task_id, rollout.sample_id
    return grade


def _components(given: object) -> tuple[Component, ...]:
    """Each is `passed` where it is more than 0. Not finite: it has no reward."""
    if not isinstance(given, Mapping):
        raise _BadResultError(f"components that are {type(given).__name__}: a dict of numbers is wanted")
    found = ((str(name), _number(value)) for name, value in given.items())
    return tuple(
        Component(
            name=name,
            reward=value if math.isfinite(value) else None,
            verdict=Verdict.PASSED if value > 0 else Verdict.WRONG_ANSWER,
        )
        for name, value in found
    )


def _number(given: object) -> float:
    """A float of a number, numpy's included; it may be nan or inf, which is for the range to judge."""
    if not isinstance(given, numbers.Real):
        raise _BadResultError(f"{type(given).__name__}: {_WANTED}")
    try:
        return float(given)
    except OverflowError:
        return math.inf  # of a whole number too large for a float; its sign does not matter, it is refused


def _flagged(flag: str, reason: str, rollout: Rollout, name: str) -> Grade:
    grade = begun(rollout, name)
    grade.error_message = reason[:_SHOWN]
    grade.flags = (Flag(flag, grade.error_message),)
    return grade


def _in_one_line(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
