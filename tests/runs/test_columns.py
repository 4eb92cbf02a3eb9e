"""The columns that workers make are those that pyarrow makes of the same grades."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluator.model import (
    CaseResult,
    Component,
    Difference,
    Flag,
    Frame,
    Grade,
    Kind,
    Limits,
    Rollout,
    Traceback,
    Verdict,
)
from evaluator.runs.files import part_path
from evaluator.runs.parts import Part
from evaluator.runs.schema import (
    CASE_COLUMNS,
    MADE_BY_WORKERS,
    CaseRow,
    Column,
    GradedRow,
    Manifest,
    columns_of,
    safe_text,
)

TYPES = {
    "string": pa.string(), "int32": pa.int32(), "int64": pa.int64(), "double": pa.float64(), "bool": pa.bool_(),
    "list<string>": pa.list_(pa.string()),
}  # fmt: skip


def failed(number: int) -> Grade:
    where = Traceback("ValueError", "\ud800", (Frame(3, "f", "x = 1"),))
    cases = tuple(
        CaseResult(
            index=index,
            verdict=Verdict.RUNTIME_ERROR if index % 3 else Verdict.PASSED,
            expected=f"é{index}",
            actual=None if index % 2 else "\udfff",
            difference=Difference("differs", line=index) if index % 4 else None,
            wall_s=None if index % 5 else 0.25,
            exit_code=-9 if index % 2 else None,
            stdout="out" * index,
            traceback=where if index % 3 else None,
        )
        for index in range(number)
    )
    flags = (Flag("odd", "line 1"),) * (number % 3)
    return Grade(
        task_id="t", sample_id=f"t#{number}", verdict=Verdict.RUNTIME_ERROR, reward=0.0 if number % 2 else None,
        verified=bool(number % 2), cases=cases, flags=flags, layers=("a", "b"), limits=Limits(wall_s=number + 1),
        components=(Component(name="c", reward=None),) * (number % 2), code="print()\n" * number,
    )  # fmt: skip


def of(number: int) -> Rollout:
    return Rollout(
        task_id="t", completion="x" * number, sample_id=f"t#{number}", sample_index=2**40 if number % 2 else None,
        kind=Kind.FULL, expected_pass=(None, True, False)[number % 3], metadata={"n": number} if number % 2 else {},
    )  # fmt: skip


def by_pyarrow(columns: tuple[Column[Any], ...], records: list[Any]) -> pa.Table:
    def safe(value: Any) -> Any:
        return safe_text(value) if isinstance(value, str) else value

    values = {column.name: [safe(column.get(record)) for record in records] for column in columns}
    return pa.table(values, schema=pa.schema([(column.name, TYPES[column.type]) for column in columns]))


@pytest.mark.parametrize("numbers", [[0], [1], [2, 5], range(17), [0, 0, 9]])
def test_the_same_rows_as_pyarrow_makes(numbers: list[int], tmp_path: Path) -> None:
    grades, rollouts = [failed(number) for number in numbers], [of(number) for number in numbers]
    part = Part(tmp_path, 0)
    for table in ("rollouts", "cases"):
        (tmp_path / table).mkdir()
    for at in (slice(0, 3), slice(3, None)):
        part.add(range(len(grades))[at], columns_of(rollouts[at], grades[at]))
    part.write(Manifest())
    found = [pq.read_table(part_path(tmp_path, table, 0)) for table in ("rollouts", "cases")]
    cases = [CaseRow(grade, case) for grade in grades for case in grade.cases]
    rows = [GradedRow(*pair) for pair in zip(rollouts, grades, strict=True)]
    assert found[0]["row"].to_pylist() == list(range(len(grades)))
    assert found[0].select([column.name for column in MADE_BY_WORKERS]).equals(by_pyarrow(MADE_BY_WORKERS, rows))
    assert found[1].equals(by_pyarrow(CASE_COLUMNS, cases))
    for table in found:
        table.validate(full=True)
