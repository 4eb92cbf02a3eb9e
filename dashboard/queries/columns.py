"""The columns that the table of rollouts can show and be sorted by, and what its rows can be grouped by."""

from __future__ import annotations

from typing import Final, NamedTuple

from dashboard.queries.expressions import REASON
from evaluator.model import Verdict


class Column(NamedTuple):
    """A column of the table."""

    shown: str
    """The SQL of its value."""
    sort: str = ""
    """The SQL of what it is sorted by; "" where that is its value."""

    @property
    def key(self) -> str:
        return self.sort or self.shown


_VERDICTS = ", ".join(f"'{v.value}'" for v in Verdict)
_TAGS = """(SELECT string_agg(DISTINCT tag, ', ' ORDER BY tag) FROM tags
    WHERE tags.task_id = rollouts.task_id AND tags.sample_id = rollouts.sample_id)"""

COLUMNS: Final[dict[str, Column]] = {
    "verdict": Column("verdict", f"list_position([{_VERDICTS}], verdict)"),
    "task_id": Column("task_id"),
    "model": Column("model"),
    "step": Column("step"),
    "sample_id": Column("sample_id"),
    "sample_index": Column("sample_index"),
    "group": Column('"group"'),
    "reward": Column("reward"),
    "given_reward": Column("given_reward"),
    "recorded_verdict": Column("recorded_verdict", f"list_position([{_VERDICTS}], recorded_verdict)"),
    "recorded_word": Column("left(recorded_word, 200)"),
    "recorded_by": Column("left(recorded_by, 200)"),
    "tests": Column("CASE WHEN tests_total > 0 THEN tests_passed || '/' || tests_total END", "pass_rate"),
    "error_type": Column("error_type"),
    "error_message": Column("left(error_message, 200)"),
    "error_line": Column("error_line"),
    "first_failing_test": Column("first_failing_test"),
    "flags": Column("array_to_string(flags, ', ')", "len(flags)"),
    "tags": Column(_TAGS),
    "wall_s": Column("wall_s"),
    "cpu_s": Column("cpu_s"),
    "memory_mb": Column("memory_mb"),
    "length": Column("length"),
    "kind": Column("kind"),
    "checker": Column("checker"),
    "grader": Column("grader"),
    "unverified_reason": Column(f"CASE WHEN NOT verified THEN left({REASON}, 200) END"),
    "duplicate_of": Column("duplicate_of"),
}
"""By name, in the order of the table. The names are also the words of `fields=` and `sort=` in the URL."""

GROUPS: Final[tuple[str, ...]] = ("model", "step", "task_id", "verdict", "err")
"""The columns of `rollouts` that rows can be grouped by: the words of `by=` in the URL."""

GROUP_SORTS: Final[dict[str, str]] = {
    "value": "value",
    "rollouts": "rollouts",
    "pass_rate": "pass_rate",
    "reward": "reward",
}
"""What groups can be sorted by: the word in the URL, and its SQL."""


def direction(sort: str) -> tuple[str, bool]:
    """A `sort=` of the URL: the column's name, and whether the highest comes first."""
    return sort.removeprefix("-"), sort.startswith("-")
