"""The contents of a run: the columns of its three tables, declared as data, and its manifest.

Each column has a name, a type (an Arrow type's name) and a function that gets its value from a record. The workers, the
writer, the reader's empty views, the export and the dashboard's SQL all follow these tables.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar

import msgspec
from msgspec.structs import asdict

from evaluator.model import CaseResult, Grade, Mode, Rollout, Task, TestCase
from evaluator.options import Options

SCHEMA_VERSION: Final = 1
MAX_PROBLEMS: Final = 1_000
"""Bad lines kept in the manifest; further ones are only counted."""
OTHER_REASONS: Final = "other"
"""Counts the bad lines without a reason, and those whose reason is beyond the first 100."""
_MAX_REASONS: Final = 100

RunState = Literal["running", "stopped", "finished"]

_Record = TypeVar("_Record")


def utc_now() -> str:
    """This moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Column(NamedTuple, Generic[_Record]):
    """One column: its name, the name of its Arrow type, and how to get its value from a record."""

    name: str
    type: str
    get: Callable[[_Record], Any]


class GradedRow(NamedTuple):
    """The source of a row of `rollouts`."""

    rollout: Rollout
    grade: Grade


class CaseRow(NamedTuple):
    """The source of a row of `cases`."""

    grade: Grade
    case: CaseResult


class TaskRow(NamedTuple):
    """The source of a row of `tasks`: the task, and the test cases as the grader ran them."""

    task: Task
    cases: Sequence[TestCase]


class BadLine(msgspec.Struct, frozen=True):
    """A line of an input file that could not be used."""

    path: str
    line: int
    message: str
    snippet: str = ""
    offset: int | None = None
    """The line's first byte in the (decompressed) file, from 0; None in runs of older versions."""
    reason: str = ""
    """What is wrong in one or two words; "" in runs of older versions."""


class Manifest(msgspec.Struct, kw_only=True):
    """`run.json`: what was graded, how, and how far it got. Paths are as the caller passed them."""

    version: int = SCHEMA_VERSION
    created: str = msgspec.field(default_factory=utc_now)
    updated: str = ""
    state: RunState = "running"
    stopped_by: str | None = None
    """Why the run could not be written any more: "No space left on device"; None: it could."""
    dataset: str = ""
    dataset_hash: str = ""
    dataset_bytes: int | None = None
    """How many bytes the hash is of, where the dataset is the file of rollouts itself, which may grow; else None."""
    rollouts: str = ""
    more_rollouts: tuple[str, ...] = ()
    """The other files, folders and patterns, where several were named."""
    options: Options = msgspec.field(default_factory=Options)
    """How it was graded, without the cache of grades."""
    layers: tuple[str, ...] = ()
    """The sandbox layers that held."""
    evaluator_version: str = ""
    python: str = ""
    """The version of the Python on which completions ran."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    """Rollouts by verdict, and `rollouts` for all. Exact once the run is finished or stopped."""
    problems: list[BadLine] = msgspec.field(default_factory=list)
    """The first 1,000 bad lines."""
    problems_total: int = 0
    problem_reasons: dict[str, int] = msgspec.field(default_factory=dict)
    """All bad lines by their reason; empty in runs of older versions."""
    regraded_from: int | None = None
    """The first part that may hold newer grades of samples in earlier parts; None: no sample occurs twice."""
    folder: str | None = None
    """The path from the run's directory to the folder of relative paths; None in runs of older versions."""
    workers: int | None = None
    format: str | None = None
    field_map: str | None = None
    limit: int | None = None
    only: str | None = None
    """These five: what was requested besides the fields above; None if nothing was."""
    dataset_format: str | None = None
    dataset_map: str | None = None
    """The same two for the dataset; None: `format` and `field_map` may be about it, else it is detected."""
    engine: str = "local"
    address: str | None = None
    """Of the cluster; None: the one that was there."""
    cache: str | None = None
    """The requested cache of grades: a folder, or `none`; None: the user's own."""
    cached: int = 0
    """How many grades came from there; of a run that was killed, about."""

    def add_problem(
        self, path: str, line: int, message: str, snippet: str = "", offset: int | None = None, reason: str = ""
    ) -> None:
        """Keep a bad line of an input file; of those beyond the first 1,000 only the number and the reason."""
        bad = BadLine(path, line, safe_text(message), safe_text(snippet), offset, safe_text(reason))
        self.problems_total += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(bad)
        name = bad.reason or OTHER_REASONS
        if name not in self.problem_reasons and len(self.problem_reasons) >= _MAX_REASONS:
            name = OTHER_REASONS
        self.problem_reasons[name] = self.problem_reasons.get(name, 0) + 1


def safe_text(text: str) -> str:
    r"""The text with lone surrogates, which UTF-8 can't encode, written as `\udXXX`; else unchanged."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def sample_key(task_id: str, sample_id: str) -> int:
    """8 bytes that identify a sample, so that a set of a million takes about 60 MB."""
    task_id, sample_id = safe_text(task_id), safe_text(sample_id)  # as in the run's files
    text = f"{len(task_id)}:{task_id}{sample_id}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)


def test_hash(task: Task, cases: Sequence[TestCase]) -> str:
    """16 hex digits that are equal for two tasks exactly if they have the same tests."""
    # Without what is not set: a version that knows more fields gives the same.
    given = [{name: value for name, value in asdict(case).items() if value is not None} for case in cases]
    decided_by: tuple[object, ...] = (
        task.mode, task.entry_point, task.preamble, task.test, given, task.exit_code,
    )  # fmt: skip
    if task.mode is Mode.ANSWER:
        decided_by += (task.answer, task.grader)
    return hashlib.sha256(encoded(decided_by)).hexdigest()[:16]


def metadata_json(rollout: Rollout) -> str | None:
    """The rollout's metadata as JSON in ASCII; None if it has none."""
    return json.dumps(rollout.metadata) if rollout.metadata else None


def _as_json(record: object) -> str:
    return encoded(record).decode()


def encoded(record: object) -> bytes:
    """The record as JSON, with `safe_text`, and with numbers of more than 64 bits as text."""
    try:
        return msgspec.json.encode(record)
    except (UnicodeEncodeError, OverflowError):  # rare, so only handled after it happens
        return msgspec.json.encode(_encodable(msgspec.to_builtins(record)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value) if value.bit_length() < 10_000 else "a number of more than 3,000 digits"
    return [_encodable(inner) for inner in value] if isinstance(value, list | tuple) else value


def _total(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _highest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def of_the_run(record: object) -> None:
    """A column that only the run's writer knows: the rollout's ordinal in its file, from 0; dataset; version."""
    del record


ROLLOUT_COLUMNS: Final[tuple[Column[GradedRow], ...]] = (
    Column("row", "int64", of_the_run),
    Column("task_id", "string", lambda r: r.grade.task_id),
    Column("sample_id", "string", lambda r: r.grade.sample_id),
    Column("sample_index", "int64", lambda r: r.rollout.sample_index),
    Column("group", "string", lambda r: r.rollout.group),
    Column("model", "string", lambda r: r.rollout.model),
    Column("step", "int64", lambda r: r.rollout.step),
    Column("reward", "double", lambda r: r.grade.reward),
    Column("verdict", "string", lambda r: r.grade.verdict.value),
    Column("verified", "bool", lambda r: r.grade.verified),
    Column("unverified_reason", "string", lambda r: r.grade.unverified_reason),
    Column("disagreement", "string", lambda r: _as_json(r.grade.disagreement) if r.grade.disagreement else None),
    Column("tests_passed", "int32", lambda r: r.grade.tests_passed),
    Column("tests_total", "int32", lambda r: r.grade.tests_total),
    Column("pass_rate", "double", lambda r: r.grade.pass_rate),
    Column("error_type", "string", lambda r: r.grade.error_type),
    Column("error_message", "string", lambda r: r.grade.error_message),
    Column("error_line", "int32", lambda r: r.grade.error_line),
    Column("first_failing_test", "int32", lambda r: r.grade.first_failing_test),
    Column("wall_s", "double", lambda r: _total(case.wall_s for case in r.grade.cases)),
    Column("cpu_s", "double", lambda r: _total(case.cpu_s for case in r.grade.cases)),
    Column("memory_mb", "double", lambda r: _highest(case.memory_mb for case in r.grade.cases)),
    Column("flags", "list<string>", lambda r: [flag.word for flag in r.grade.flags]),
    Column("flag_evidence", "list<string>", lambda r: [flag.evidence for flag in r.grade.flags]),
    Column("checker", "string", lambda r: r.grade.checker),
    Column("grader", "string", lambda r: r.grade.grader),
    Column("components", "string", lambda r: _as_json(r.grade.components) if r.grade.components else None),
    Column("dataset_hash", "string", of_the_run),
    Column("evaluator_version", "string", of_the_run),
    Column("code", "string", lambda r: r.grade.code),
    Column("completion", "string", lambda r: r.rollout.completion),
    Column("kind", "string", lambda r: r.grade.kind.value if r.grade.kind else None),
    Column("line_offset", "int32", lambda r: r.grade.line_offset),
    Column("extracted_from", "string", lambda r: r.grade.extracted_from),
    Column("source_line", "int64", lambda r: r.rollout.line or None),
    Column("duplicate_of", "string", lambda r: r.grade.duplicate_of),
    Column("expected_pass", "bool", lambda r: r.rollout.expected_pass),
    Column("given_reward", "double", lambda r: r.rollout.given_reward),
    Column("recorded_reward", "double", lambda r: r.rollout.given_reward),
    Column("recorded_verdict", "string", lambda r: r.rollout.recorded_verdict),
    Column("recorded_word", "string", lambda r: r.rollout.recorded_word),
    Column("recorded_by", "string", lambda r: r.rollout.recorded_by),
    Column("layers", "list<string>", lambda r: list(r.grade.layers)),
    Column("limits", "string", lambda r: _as_json(r.grade.limits)),
    Column("metadata", "string", lambda r: metadata_json(r.rollout)),
)

CASE_COLUMNS: Final[tuple[Column[CaseRow], ...]] = (
    Column("task_id", "string", lambda r: r.grade.task_id),
    Column("sample_id", "string", lambda r: r.grade.sample_id),
    Column("test_index", "int32", lambda r: r.case.index),
    Column("verdict", "string", lambda r: r.case.verdict.value),
    Column("expected", "string", lambda r: r.case.expected),
    Column("actual", "string", lambda r: r.case.actual),
    Column("difference", "string", lambda r: r.case.difference.message if r.case.difference else None),
    Column("diff_line", "int32", lambda r: r.case.difference.line if r.case.difference else None),
    Column("diff_column", "int32", lambda r: r.case.difference.column if r.case.difference else None),
    Column("diff_path", "string", lambda r: r.case.difference.path if r.case.difference else None),
    Column("wall_s", "double", lambda r: r.case.wall_s),
    Column("cpu_s", "double", lambda r: r.case.cpu_s),
    Column("memory_mb", "double", lambda r: r.case.memory_mb),
    Column("stdout", "string", lambda r: r.case.stdout),
    Column("stdout_bytes", "int64", lambda r: r.case.stdout_bytes),
    Column("stderr", "string", lambda r: r.case.stderr),
    Column("stderr_bytes", "int64", lambda r: r.case.stderr_bytes),
    Column("exit_code", "int32", lambda r: r.case.exit_code),
    Column("error_type", "string", lambda r: r.case.error_type),
    Column("error_message", "string", lambda r: r.case.error_message),
    Column("error_line", "int32", lambda r: r.case.error_line),
    Column("traceback", "string", lambda r: _as_json(r.case.traceback) if r.case.traceback else None),
    Column("excerpt", "string", lambda r: _as_json(r.case.excerpt) if r.case.excerpt else None),
)

TASK_COLUMNS: Final[tuple[Column[TaskRow], ...]] = (
    Column("task_id", "string", lambda r: r.task.task_id),
    Column("prompt", "string", lambda r: r.task.prompt),
    Column("mode", "string", lambda r: r.task.mode.value),
    Column("entry_point", "string", lambda r: r.task.entry_point),
    Column("preamble", "string", lambda r: r.task.preamble),
    Column("reference", "string", lambda r: r.task.reference),
    Column("test", "string", lambda r: r.task.test),
    Column("source", "string", lambda r: r.task.source),
    Column("tests_total", "int32", lambda r: len(r.cases)),
    Column("test_hash", "string", lambda r: test_hash(r.task, r.cases)),
    Column("task", "string", lambda r: _as_json(r.task)),
    Column("cases", "string", lambda r: _as_json(list(r.cases))),
)

TABLES: Final[dict[str, tuple[Column[Any], ...]]] = {
    "rollouts": ROLLOUT_COLUMNS,
    "cases": CASE_COLUMNS,
    "tasks": TASK_COLUMNS,
}

SQL_TYPES: Final = {
    "string": "VARCHAR",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "list<string>": "VARCHAR[]",
}
"""DuckDB's names of the columns' types."""


def column_names(table: str) -> list[str]:
    """The columns of `rollouts`, `cases` or `tasks`, in their order."""
    return [column.name for column in TABLES[table]]


def columns_sql(table: str, value: Callable[[str], str]) -> list[str]:
    """The columns of a view: of `rollouts`, `cases` or `tasks`, where `value` gives the SQL of each by its name."""
    return [f'{value(column.name)}::{SQL_TYPES[column.type]} AS "{column.name}"' for column in TABLES[table]]


# ---- rows of graded rollouts, made by the workers without pyarrow, so that the run's writer only puts them together

MADE_BY_WORKERS: Final = tuple(column for column in ROLLOUT_COLUMNS if column.get is not of_the_run)
"""Without the columns that only the run's writer knows."""


def columns_of(rollouts: Sequence[Rollout], grades: Sequence[Grade]) -> bytes:
    """The rows of `rollouts` and of `cases` for these grades: a packed list of the bytes of all columns.

    First those of `MADE_BY_WORKERS`, then those of `CASE_COLUMNS`. Each column has a byte for each value, 0 where it is
    null; then its numbers, or the lengths of its texts and the texts in UTF-8, or the lengths of its lists and the
    same for the texts in them. They can be joined with those of other rollouts; `runs.parts` makes Arrow's arrays.
    """
    rows = [GradedRow(*pair) for pair in zip(rollouts, grades, strict=True)]
    cases = [CaseRow(grade, case) for grade in grades for case in grade.cases]
    packed: list[bytes] = []
    for rollout_column in MADE_BY_WORKERS:
        _PACKED[rollout_column.type](list(map(rollout_column.get, rows)), packed)
    for case_column in CASE_COLUMNS:
        _PACKED[case_column.type](list(map(case_column.get, cases)), packed)
    return msgspec.msgpack.encode(packed)


def _numbers(code: str) -> Callable[[Sequence[Any], list[bytes]], None]:
    def add(values: Sequence[Any], packed: list[bytes]) -> None:
        if values.count(None) == len(values):
            packed += (bytes(len(values)), bytes(array(code).itemsize * len(values)))
        else:
            packed += (_present(values), array(code, [value or 0 for value in values]).tobytes())

    return add


def _texts(values: Sequence[Any], packed: list[bytes]) -> None:
    count = len(values)
    if count and values.count(values[0]) == count:  # as in most columns
        text = _encoded(values[0] or "")
        packed += (_present(values[:1]) * count, _lengths([text]) * count, text * count)
        return
    try:
        encoded = [value.encode() if value else b"" for value in values]
    except UnicodeEncodeError:  # rare
        encoded = [_encoded(value or "") for value in values]
    packed += (_present(values), _lengths(encoded), b"".join(encoded))


def _encoded(text: str) -> bytes:
    """As `safe_text`: lone surrogates are written as \\udXXX."""
    return text.encode("utf-8", "backslashreplace")


def _lists(values: Sequence[Any], packed: list[bytes]) -> None:
    packed += (_present(values), _lengths(values))
    _texts([text for value in values for text in value], packed)


def _present(values: Sequence[Any]) -> bytes:
    return bytes([value is not None for value in values])


def _lengths(values: Sequence[Any]) -> bytes:
    return array("i", map(len, values)).tobytes()


_PACKED: Final[dict[str, Callable[[Sequence[Any], list[bytes]], None]]] = {
    "string": _texts,
    "int32": _numbers("i"),
    "int64": _numbers("q"),
    "double": _numbers("d"),
    "bool": _numbers("b"),
    "list<string>": _lists,
}
