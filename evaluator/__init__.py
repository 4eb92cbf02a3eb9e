"""Rollscope: grades the code that language models write, and shows why each completion passed or failed.

from evaluator import Task, grade
task = Task.from_row({"task_id": "add", "mode": "call", "in_outs": {...}})
grade(task, "def add(a, b): return a + b").reward
"""

from evaluator.api import agrade, configure, grade, grade_all
from evaluator.extras import MissingExtraError
from evaluator.file_grading import GradedFile, grade_file
from evaluator.formats import FormatError, load_rollouts, load_tasks
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
from evaluator.sandbox import SandboxUnavailable
from evaluator.version import VERSION
from evaluator.workers.engine import EngineError

__version__ = VERSION

__all__ = [
    "CaseResult",
    "EngineError",
    "FormatError",
    "Grade",
    "GradedFile",
    "Kind",
    "Limits",
    "MissingExtraError",
    "Mode",
    "RecordError",
    "Rollout",
    "SandboxUnavailable",
    "Task",
    "TestCase",
    "Verdict",
    "agrade",
    "configure",
    "grade",
    "grade_all",
    "grade_file",
    "load_rollouts",
    "load_tasks",
]
