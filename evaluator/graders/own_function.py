"""A user's own grader: a function in a file, which is trusted like any program that the user runs.

    def brevity(task, rollout, bench):
        return 1.0 if len(rollout.completion) < 500 else 0.5

It returns a number; or a `dict` with `reward` and, optionally, `message` and `components` (name -> number); or a whole
`Grade`; or None if it can't decide. The highest number of the range is `passed`, any other `wrong_answer`. If it raises
or returns anything else, that rollout is `unknown`, flagged; the run continues.

The file may also define `RANGE = (lowest, highest)`, by default 0 to 1; `RUNS_CODE = False` if no sandbox is needed;
`WAITS = 16` if so many may be graded at once because a server does the work; `REPEATABLE = True` if this file, the task
and the rollout alone decide, so that grades may be kept in the cache. It may import its neighbours. To grade by tests
first: `evaluator.graders.tests.grade(task, rollout, bench)`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import numbers
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec.structs import replace

from evaluator.cases import Bench
from evaluator.graders.answers import unknown_grade
from evaluator.graders.grader import Grader, GraderError
from evaluator.graders.plans import test_cases
from evaluator.model import Component, Flag, Grade, JsonValue, Rollout, Task, Verdict
from evaluator.sandbox import FaultError, SandboxUnavailable

USUAL_RANGE = (0, 1)
_SHOWN = 500
_MOST_AT_ONCE = 256
_ALLOWED = "return a number, a dict with reward, a Grade or None"

Function = Callable[[Task, Rollout, Bench], object]


class _BadResultError(ValueError):
    """A function's result is not a grade. The message says what it is."""


def own_grader(file: str, function: str) -> Grader:
    """The function of that name in that file. Raises `GraderError`."""
    module, digest = _loaded(Path(file).expanduser().resolve())
    member = getattr(module, function, None)
    if not callable(member):
        raise GraderError(f"{file}: defines no function {function!r}")
    lowest, highest = _range(file, module)
    name = f"{Path(file).name}:{function}"

    def grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
        return _graded(member, name, highest, task, rollout, bench)

    return Grader(
        name,
        grade,
        test_cases,
        lowest=lowest,
        highest=highest,
        runs_code=bool(getattr(module, "RUNS_CODE", True)),
        waits=_waits(file, module),
        kept_by=partial(_kept_by, digest) if getattr(module, "REPEATABLE", False) is True else None,
    )


def _kept_by(digest: str, task: Task, rollout: Rollout) -> JsonValue:
    """All that the function is given, but for where it stands in its file."""
    task, rollout = replace(task, line=0), replace(rollout, line=0, sample_id="")
    return [digest, msgspec.to_builtins(task), msgspec.to_builtins(rollout)]


@lru_cache(64)
def _loaded(path: Path) -> tuple[ModuleType, str]:
    """The file's module, and a digest of the file."""
    if not path.is_file():
        raise GraderError(f"{path}: no such file: give FILE.py:FUNCTION")
    name = f"rollscope_grader_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise GraderError(f"{path}: can't be loaded: give FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last: its neighbours must not replace installed modules
    sys.modules[name] = module  # dataclasses look up their module
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise GraderError(f"{path}: can't be loaded: {_in_one_line(error)}") from error
    return module, digest


def _range(file: str, module: ModuleType) -> tuple[float, float]:
    ends = getattr(module, "RANGE", USUAL_RANGE)
    try:
        lowest, highest = (float(end) for end in ends)
    except (TypeError, ValueError, OverflowError):
        lowest, highest = math.nan, math.nan
    if not (math.isfinite(lowest) and math.isfinite(highest) and lowest < highest):
        raise GraderError(f"{file}: RANGE is {ends!r}: give two numbers, the lower one first")
    return lowest, highest


def _waits(file: str, module: ModuleType) -> int:
    number = getattr(module, "WAITS", 0)
    if not isinstance(number, int) or not 0 <= number <= _MOST_AT_ONCE:
        raise GraderError(f"{file}: WAITS is {number!r}: give a whole number from 0 to {_MOST_AT_ONCE}")
    return number


def _graded(function: Function, name: str, highest: float, task: Task, rollout: Rollout, bench: Bench) -> Grade:
    try:
        return _grade_from(function(task, rollout, bench), name, highest, rollout)
    except (FaultError, SandboxUnavailable):
        raise
    except _BadResultError as error:
        flag, reason = "bad_reward", f"{name} gave {error}"
    except (Exception, SystemExit) as error:
        flag, reason = "grader_failed", f"{name} raised {_in_one_line(error)}"
    return _flagged(flag, reason, rollout, name)


def _grade_from(result: object, name: str, highest: float, rollout: Rollout) -> Grade:
    """Raises `_BadResultError`."""
    if isinstance(result, Grade):
        return _validated(result, name, rollout)
    message: object = None
    components: tuple[Component, ...] = ()
    if isinstance(result, Mapping):
        if "reward" not in result:
            raise _BadResultError(f"a dict without reward: {_ALLOWED}")
        message, components = result.get("message"), _components(result.get("components") or {})
        result = result["reward"]
    grade = unknown_grade(rollout, name)
    grade.components = components
    grade.error_message = None if message is None else str(message)[:_SHOWN]
    if result is None:
        grade.error_message = grade.error_message or f"{name} could not decide"
        return grade
    grade.reward = _number(result)
    grade.verdict = Verdict.PASSED if grade.reward >= highest else Verdict.WRONG_ANSWER
    return grade


def _validated(result: Grade, name: str, rollout: Rollout) -> Grade:
    """A copy of the user's grade, with fields of the right types."""
    try:
        grade = msgspec.convert(msgspec.to_builtins(result), Grade)
    except (msgspec.ValidationError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _BadResultError(f"an invalid Grade: {error}") from None
    if grade.reward is None and grade.verdict.graded:
        raise _BadResultError(f"a Grade that is {grade.verdict} and has no reward")
    grade.grader, grade.task_id, grade.sample_id = name, rollout.task_id, rollout.sample_id
    return grade


def _components(mapping: object) -> tuple[Component, ...]:
    """Each is `passed` if above 0; it has no reward if not finite."""
    if not isinstance(mapping, Mapping):
        raise _BadResultError(f"components that are {type(mapping).__name__}: give a dict of numbers")
    pairs = ((str(name), _number(value)) for name, value in mapping.items())
    return tuple(
        Component(
            name=name,
            reward=value if math.isfinite(value) else None,
            verdict=Verdict.PASSED if value > 0 else Verdict.WRONG_ANSWER,
        )
        for name, value in pairs
    )


def _number(value: object) -> float:
    """A number, numpy's included, as a float; nan and inf are rejected later, with the range."""
    if not isinstance(value, numbers.Real):
        raise _BadResultError(f"{type(value).__name__}: {_ALLOWED}")
    try:
        return float(value)
    except OverflowError:
        return math.inf  # an int too large for a float; its sign does not matter, as it is rejected


def _flagged(flag: str, reason: str, rollout: Rollout, name: str) -> Grade:
    grade = unknown_grade(rollout, name, reason[:_SHOWN])
    grade.flags = (Flag(flag, reason[:_SHOWN]),)
    return grade


def _in_one_line(error: BaseException) -> str:
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
