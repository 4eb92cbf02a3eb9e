"""A short way to grade an answer, which takes no sandbox."""

import json

from evaluator.model import Grade, JsonValue, Mode, Rollout, Task
from evaluator.options import Options
from evaluator.workers.worker import Worker


def task(answer: JsonValue = None, grader: JsonValue = None) -> Task:
    """An answer task, its grader as a row names it."""
    row = {"task_id": "t", "mode": "answer", "prompt": "Which?", "answer": answer, "grader": grader}
    return Task.from_row(row)


def graded(of: Task, completion: str, grader: JsonValue = None) -> Grade:
    """What a run with that grader finds; `grader` is a text, or an object with its options."""
    assert of.mode is Mode.ANSWER
    text = grader if grader is None or isinstance(grader, str) else json.dumps(grader)
    rollout = Rollout(task_id=of.task_id, sample_id="t#0", completion=completion)
    return Worker(Options(grader=text)).grade(of, rollout)


def options(name: str, **given: JsonValue) -> dict[str, JsonValue]:
    """A grader with its options as an object."""
    return {"name": name, **given}
