"""A grader of the user's own: a function in a file of theirs, which is trusted as any program that they run.

    def brevity(task, rollout, bench):
        return 1.0 if len(rollout.completion) < 500 else 0.5

It gives a number, a `dict` with `reward` and, if it likes, `message`, or a whole `Grade`; None says that it can't tell.
A number that is the highest of the range is `passed`, any other `wrong_answer`. The range is 0 to 1, or the file's
`RANGE = (lowest, highest)`. To grade by tests first: `evaluator.graders.tests.grade(task, rollout, bench)`.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from evaluator.graders.bench import Bench
from evaluator.graders.grader import Grader, GraderError
from evaluator.graders.tests import test_cases
from evaluator.model import Flag, Grade, Rollout, Task, Verdict
from evaluator.sandbox import FaultError, SandboxUnavailable

_SHOWN = 500


def own_grader(file: str, function: str) -> Grader:
    """The function of that name in that file. Raises `GraderError`."""
    module = _loaded(Path(file))
    found = getattr(module, function, None)
    if not callable(found):
        raise GraderError(f"{file}: defines no function {function!r}")
    lowest, highest = _range(file, module)
    name = f"{Path(file).name}:{function}"

    def grade(task: Task, rollout: Rollout, bench: Bench) -> Grade:
        return _graded(found, name, highest, task, rollout, bench)

    return Grader(name, grade, test_cases, lowest, highest)


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"rollscope_grader_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise GraderError(f"{path}: no such file: give FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise GraderError(f"{path}: can't be loaded: {type(error).__name__}: {error}") from error
    return module


def _range(file: str, module: ModuleType) -> tuple[float, float]:
    given = getattr(module, "RANGE", (0.0, 1.0))
    try:
        lowest, highest = (float(end) for end in given)
    except (TypeError, ValueError):
        lowest, highest = math.nan, math.nan
    if not (math.isfinite(lowest) and math.isfinite(highest) and lowest < highest):
        raise GraderError(f"{file}: RANGE is {given!r}: give two numbers, the lower one first")
    return lowest, highest


def _graded(
    function: Callable[[Task, Rollout, Bench], object],
    name: str,
    highest: float,
    task: Task,
    rollout: Rollout,
    bench: Bench,
) -> Grade:
    result = Grade(
        task_id=rollout.task_id,
        sample_id=rollout.sample_id,
        verdict=Verdict.UNKNOWN,
        reward=None,
        grader=name,
    )
    try:
        given = function(task, rollout, bench)
    except (FaultError, SandboxUnavailable):
        raise
    except Exception as error:
        result.error_message = f"{name} raised {type(error).__name__}: {error}"[:_SHOWN]
        result.flags = (Flag("grader_failed", result.error_message),)
        return result
    if isinstance(given, Grade):
        given.grader = name
        return given
    message = None
    if isinstance(given, dict):
        message, given = given.get("message"), given.get("reward")
    result.error_message = None if message is None else str(message)[:_SHOWN]
    if given is None:
        result.error_message = result.error_message or f"{name} could not tell"
    elif not isinstance(given, int | float):
        result.error_message = f"{name} gave {type(given).__name__}: a number, a dict with reward, or a Grade is wanted"
        result.flags = (Flag("bad_reward", result.error_message),)
    else:
        result.reward = float(given)
        result.verdict = Verdict.PASSED if result.reward >= highest else Verdict.WRONG_ANSWER
    return result
