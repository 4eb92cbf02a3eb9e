"""The time limits of a row: its own, up to the server's."""

from __future__ import annotations

from typing import Final

from evaluator.interop.nemo_gym.config import ServerConfig
from evaluator.model import RecordError, Task

_SLACK_S: Final = 5


def with_time_for_all(task: Task, config: ServerConfig) -> Task:
    """The task with code_gen's time for all test cases, unless the row sets its own."""
    if task.limits is None or "total_s" not in task.limits:
        task.limits = {**(task.limits or {}), "total_s": _total_s(config.unit_test_timeout_secs, task)}
    return task


def require_short(task: Task, config: ServerConfig) -> None:
    """Raises `RecordError` if a row sets more time than the server allows."""
    most = max(config.max_timeout_secs, config.unit_test_timeout_secs)
    for name, seconds in (("wall_s", most), ("cpu_s", most), ("total_s", _total_s(most, task))):
        wanted = (task.limits or {}).get(name, 0)
        if wanted > seconds:
            raise RecordError(f"limits.{name} is {wanted:g}, above {seconds:g}: see the server's max_timeout_secs")


def _total_s(seconds: float, task: Task) -> float:
    return (seconds + 1) * max(1, len(task.cases)) + _SLACK_S
