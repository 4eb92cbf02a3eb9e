"""The columns that the table of rollouts can show and be sorted by, what its rows can be grouped by, the orders of
rollouts, and a rollout's place in them.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from dashboard.queries.expressions import INFINITY, REASON, natural
from dashboard.queries.query import cached, rows
from dashboard.state import Filter
from dashboard.workspace import OpenRun, Params
from evaluator.model import Verdict


class Column(NamedTuple):
    """A column of the table: its heading, the SQL of its value, and how it looks.

    `sort`: the SQL of what it is sorted by, where that is not its value.
    """

    label: str
    shown: str
    look: Literal["", "number", "wide", "long", "tight"] = ""
    title: str = ""
    sort: str = ""

    @property
    def key(self) -> str:
        return self.sort or self.shown


_VERDICTS = ", ".join(f"'{v.value}'" for v in Verdict)
_TAGS = """(SELECT string_agg(DISTINCT tag, ', ' ORDER BY tag)
    FROM (SELECT task_id AS task, sample_id AS sample, tag FROM tags) WHERE task = task_id AND sample = sample_id)"""
_TESTS = "CASE WHEN tests_total > 0 THEN tests_passed || '/' || tests_total END"
_MESSAGE = "left(CASE WHEN error_message = '' THEN err ELSE error_message END, 200)"
_UNVERIFIED = f"CASE WHEN NOT verified THEN left({REASON}, 200) END"

COLUMNS: Final[dict[str, Column]] = {
    "verdict": Column("", "verdict", "tight", "verdict", f"list_position([{_VERDICTS}], verdict)"),
    "task_id": Column("task", "task_id"),
    "model": Column("model", "model"),
    "step": Column("step", "step", "number", "training step"),
    "sample_id": Column("sample", "sample_id"),
    "sample_index": Column("index", "sample_index", "number", "sample index"),
    "group": Column("group", '"group"'),
    "reward": Column("reward", "reward", "number"),
    "given_reward": Column("given", "given_reward", "number", "the reward that the rollout came with"),
    "recorded_verdict": Column(
        "rec.", "recorded_verdict", "tight", "the verdict that the rollout came with",
        f"list_position([{_VERDICTS}], recorded_verdict)",
    ),
    "recorded_word": Column("recorded", "left(recorded_word, 200)", "", "the same in its source's words"),
    "recorded_by": Column("recorded by", "left(recorded_by, 200)"),
    "tests": Column("tests", _TESTS, "number", "test cases passed", "pass_rate"),
    "error_type": Column("error", "error_type"),
    "error_message": Column("message", _MESSAGE, "wide"),
    "error_line": Column("line", "error_line", "number"),
    "first_failing_test": Column("first failing", "first_failing_test", "number", "the first failing test case"),
    "flags": Column("flags", "array_to_string(flags, ', ')", sort="len(flags)"),
    "tags": Column("tags", _TAGS),
    "wall_s": Column("wall, s", "wall_s", "number"),
    "cpu_s": Column("CPU, s", "cpu_s", "number"),
    "memory_mb": Column("MiB", "memory_mb", "number", "memory"),
    "length": Column("length", "length", "number", "characters of the completion"),
    "kind": Column("kind", "kind"),
    "checker": Column("checker", "checker"),
    "grader": Column("grader", "grader"),
    "unverified_reason": Column("not verified", _UNVERIFIED, "long", "why it is not verified"),
    "duplicate_of": Column("same code as", "duplicate_of"),
}  # fmt: skip
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


SORTS: dict[str, tuple[str, str]] = {
    "": ("file order", '"row"'),
    "worst": ("lowest reward first", f"coalesce(reward, {INFINITY})"),
    "best": ("highest reward first", f"-coalesce(reward, -{INFINITY})"),
    "tests": ("share of tests passed", f"coalesce(pass_rate, {INFINITY})"),
    "slow": ("slowest first", "-coalesce(wall_s, 0)"),
    "memory": ("most memory first", "-coalesce(memory_mb, 0)"),
}
"""Orders with names: URL word -> (label, ascending key). Others are a column, with a `-` for the highest first."""

GRID_SORTS: dict[str, tuple[str, str]] = {
    "": ("file order", "first"),
    "rate": ("lowest pass rate first", f"coalesce(passed / nullif(graded, 0), {INFINITY})"),
    "rate_desc": ("highest pass rate first", "-coalesce(passed / nullif(graded, 0), -1)"),
    "spread": ("most mixed first", "abs(coalesce(passed / nullif(graded, 0), 9) - 0.5)"),
    "slow": ("slowest first", "-wall_s"),
    "task": ("task id", f"{natural('task_id')}, task_id"),
}


class Place(NamedTuple):
    """A rollout's place in the filtered order; `inside` is false when the filter leaves it out."""

    inside: bool
    position: int
    total: int
    previous: tuple[str, str] | None
    following: tuple[str, str] | None


class Order(NamedTuple):
    """What rollouts are sorted by before their place in the file; those without a value come last."""

    key: str
    down: bool = False

    def by(self, *, reverse: bool = False) -> str:
        """The list of an ORDER BY."""
        up, flag = ("DESC" if reverse else "ASC"), ("DESC" if self.down != reverse else "ASC")
        return f'({self.key}) IS NULL {up}, {self.key} {flag}, "row" {up}'

    def beside(self, value: object) -> tuple[str, str]:
        """The conditions for being before and after a rollout with this value and the ordinal `$row`."""
        if value is None:
            return f'({self.key} IS NOT NULL OR "row" < $row)', f'({self.key} IS NULL AND "row" > $row)'
        less, more = (">", "<") if self.down else ("<", ">")
        before = f'({self.key} {less} $value OR ({self.key} = $value AND "row" < $row))'
        after = f'({self.key} {more} $value OR ({self.key} = $value AND "row" > $row) OR {self.key} IS NULL)'
        return before, after


def order(sort: str) -> Order:
    """The order of one of `SORTS` or of a column; an unknown word means file order."""
    name, down = direction(sort)
    return Order(COLUMNS[name].key, down) if name in COLUMNS else Order(SORTS.get(sort, SORTS[""])[1])


def is_order(sort: str) -> bool:
    """Whether the word is an order of rollouts."""
    return sort in SORTS or direction(sort)[0] in COLUMNS


@cached
def first(run: OpenRun, filter_: Filter, sort: str) -> tuple[str, str] | None:
    """(task, sample) of the first rollout in the filter's order."""
    return _next(run, filter_, "true", order(sort).by(), {})


@cached
def place(run: OpenRun, filter_: Filter, sort: str, row: int) -> Place:
    """The place of the rollout with ordinal `row`, and its neighbours."""
    by = order(sort)
    ((value,),) = run.rows(f'SELECT {by.key} FROM rollouts WHERE "row" = $row LIMIT 1', {"row": row})  # noqa: S608
    before, after = by.beside(value)
    valued: Params = {"row": row} if value is None else {"row": row, "value": value}
    sql = f"""SELECT coalesce(bool_or("row" = $row), false), count(*) FILTER ({before}), count(*)
              FROM inside"""  # noqa: S608
    is_inside, above, total = rows(run, filter_, sql, **valued)[0]
    previous = _next(run, filter_, before, by.by(reverse=True), valued)
    following = _next(run, filter_, after, by.by(), valued)
    return Place(is_inside, above + is_inside, total, previous, following)


def _next(run: OpenRun, filter_: Filter, condition: str, by: str, params: Params) -> tuple[str, str] | None:
    sql = f"SELECT task_id, sample_id FROM inside WHERE {condition} ORDER BY {by} LIMIT 1"  # noqa: S608
    found = rows(run, filter_, sql, **params)
    return found[0] if found else None
