"""What is raised where a task can't be graded."""

from __future__ import annotations


class UngradableError(ValueError):
    """The task can't be graded. The message says why."""
