"""The time that a row's test cases have: what it asks for, within what the server gives."""

from __future__ import annotations

from typing import Final

from evaluator.interop.nemo_gym.config import ServerConfig
from evaluator.model import RecordError, Task

_SLACK_S: Final = 5


def with_time_for_all(task: Task, config: ServerConfig) -> Task:
    """Time for all test cases as code_gen gives it, where the row says nothing of its own."""
    if task.limits is None or "total_s" not in task.limits:
        task.limits = {**(task.limits or {}), "total_s": _total_s(config.unit_test_timeout_secs, task)}
    return task


def require_short(task: Task, config: ServerConfig) -> None:
    """Raises `RecordError` where a row asks for more time than the server gives."""
    most = max(config.max_timeout_secs, config.unit_test_timeout_secs)
    for name, seconds in (("wall_s", most), ("cpu_s", most), ("total_s", _total_s(most, task))):
        asked = (task.limits or {}).get(name, 0)
        if asked > seconds:
            raise RecordError(f"limits.{name} is {asked:g}, of at most {seconds:g}: see the server's max_timeout_secs")


def _total_s(seconds: float, task: Task) -> float:
    return (seconds + 1) * max(1, len(task.cases)) + _SLACK_S
