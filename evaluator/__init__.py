"""Rollscope: grades the code that language models write, and shows why each completion passed or failed.

from evaluator import grade, load_task
task = load_task({"task_id": 2, "text": "...", "code": "...", "test_list": ["assert add(1, 2) == 3"]})
grade(task, "def add(a, b): return a + b").reward
"""

from typing import TYPE_CHECKING

from evaluator import _linux  # noqa: F401
from evaluator.api import agrade, configure, grade, grade_all
from evaluator.extras import MissingExtraError
from evaluator.file_grading import GradedFile, grade_file
from evaluator.formats import FormatError, load_rollouts, load_task, load_tasks
from evaluator.graders import GraderError
from evaluator.model import (
    CaseResult,
    Grade,
    Kind,
    Limits,
    Mode,
    RecordError,
    Rollout,
    Task,
    TestCase,
    Verdict,
)
from evaluator.options import Settings
from evaluator.sandbox import SandboxUnavailable
from evaluator.version import VERSION
from evaluator.workers.engine import EngineError

if TYPE_CHECKING:
    from evaluator.runs.metrics import pass_at_k

__version__ = VERSION

__all__ = [
    "CaseResult",
    "EngineError",
    "FormatError",
    "Grade",
    "GradedFile",
    "GraderError",
    "Kind",
    "Limits",
    "MissingExtraError",
    "Mode",
    "RecordError",
    "Rollout",
    "SandboxUnavailable",
    "Settings",
    "Task",
    "TestCase",
    "Verdict",
    "agrade",
    "configure",
    "grade",
    "grade_all",
    "grade_file",
    "load_rollouts",
    "load_task",
    "load_tasks",
    "pass_at_k",
]


def __getattr__(name: str) -> object:
    if name == "pass_at_k":  # numpy would be a third of what importing this package costs
        from evaluator.runs import metrics

        return metrics.pass_at_k
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
