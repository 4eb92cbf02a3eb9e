"""Every file beside this module, as its user opens it: what it is, what is read of it, and that nothing is lost.

`files.json` says what is expected of each. After a change that is meant, `python tests/formats/test_all_files.py`
writes it anew: read its diff.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator import Task
from evaluator.formats import FormatError, Role, load_rollouts, load_tasks, sniff
from evaluator.formats.reading.parquet import ROLLOUT_COLUMNS, TASK_COLUMNS, Table
from evaluator.formats.writers import rollout_row, task_row
from evaluator.model import Rollout, Verdict
from evaluator.options import Options
from evaluator.recorded import recorded_grade
from evaluator.workers.worker import Worker

FILES = Path(__file__).parent / "files"
EXPECTED = Path(__file__).parent / "files.json"
SIDECARS = {"LICENCES.md", "agentfly/monitor/agent-rollout-info.jsonl"}
"""Read with another file, or not at all."""
Record = Task | Rollout
LOADERS: dict[Role, Callable[..., Iterator[Any]]] = {Role.TASKS: load_tasks, Role.ROLLOUTS: load_rollouts}
_SHOWN = 60


def names() -> list[str]:
    found = (path.relative_to(FILES).as_posix() for path in FILES.rglob("*") if path.is_file())
    return sorted({*found} - SIDECARS)


def read(path: Path, role: Role) -> tuple[list[Any], list[str]]:
    problems: list[str] = []
    records = list(LOADERS[role](path, on_problem=lambda problem: problems.append(problem.message)))
    return records, problems


def roles_of(name: str) -> list[Role]:
    try:
        match = sniff(FILES / name)
    except FormatError:
        return []
    return [role for role in Role if role in (match.role, *(other.role for other in match.others))]


def described(name: str) -> dict[str, Any]:
    try:
        match = sniff(FILES / name)
    except FormatError as error:
        return {"refused": str(error).removeprefix(f"{FILES / name}:").lstrip()}
    return {
        "format": match.format,
        "role": match.role.value,
        "container": match.container,
        **{role.value: of_records(*read(FILES / name, role)) for role in roles_of(name)},
    }


def of_records(records: list[Any], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"ids": [getattr(record, "sample_id", record.task_id) for record in records]}
    found["problems"] = problems
    if records:
        found["first"] = of_task(records[0]) if isinstance(records[0], Task) else of_rollout(records[0])
    if records and isinstance(records[0], Rollout):
        found["grades"] = [grade_of(rollout) for rollout in records]
    return {name: value for name, value in found.items() if value != []}


def of_task(task: Task) -> dict[str, Any]:
    texts = {
        name: (getattr(task, name) or "")[:_SHOWN]
        for name in ("prompt", "test", "preamble", "reference", "checker_code")
    }
    cases = [[case.input[:_SHOWN], case.expected[:_SHOWN]] for case in task.cases[:4]]
    fields = {
        "task_id": task.task_id, "mode": task.mode.value, "entry_point": task.entry_point, **texts,
        "cases": len(task.cases), "first_cases": cases, "answer": task.answer, "checker": task.checker,
        "grader": task.grader, "limits": task.limits, "time_limit": task.time_limit,
        "memory_limit": task.memory_limit, "source": task.source, "metadata": beginnings(task.metadata),
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value or (value == 0 and name != "cases")}


def of_rollout(rollout: Rollout) -> dict[str, Any]:
    fields = {
        "task_id": rollout.task_id, "sample_id": rollout.sample_id, "sample_index": rollout.sample_index,
        "kind": rollout.kind, "model": rollout.model, "group": rollout.group, "step": rollout.step,
        "completion": rollout.completion[:_SHOWN], "metadata": beginnings(rollout.metadata),
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value not in (None, {})}


def beginnings(metadata: dict[str, Any]) -> dict[str, str]:
    return {name: json.dumps(metadata[name], sort_keys=True)[:_SHOWN] for name in sorted(metadata)}


def grade_of(rollout: Rollout) -> list[Any]:
    """Recorded verdict, its word, who gave it, the reward, whether it passed there."""
    verdict = rollout.recorded_verdict.value if rollout.recorded_verdict else None
    return [verdict, rollout.recorded_word, rollout.recorded_by, rollout.given_reward, rollout.expected_pass]


def test_the_files_are_many_and_each_has_its_source_and_licence():
    written = (FILES / "LICENCES.md").read_text()
    assert len(names()) >= 40
    for name in names():
        parts = [name, *(f"{parent.as_posix()}/" for parent in Path(name).parents)]
        assert any(f"`{part}`" in written for part in parts), f"{name} has no row in LICENCES.md"


def test_every_file_is_recognised_and_its_fields_and_recorded_grades_are_read():
    expected = json.loads(EXPECTED.read_text())
    assert list(expected) == names()
    for name in names():
        assert described(name) == expected[name], name


@pytest.mark.parametrize("name", names())
def test_nothing_is_lost_in_native_rows_and_in_parquet(name, tmp_path):
    for role in roles_of(name):
        records, _ = read(FILES / name, role)
        if records:
            rows = [(task_row if role is Role.TASKS else rollout_row)(record) for record in records]
            native, parquet = tmp_path / "native.jsonl", tmp_path / "table.parquet"
            native.write_text("".join(json.dumps(row) + "\n" for row in rows))
            with Table(parquet, TASK_COLUMNS if role is Role.TASKS else ROLLOUT_COLUMNS) as table:
                for row in rows:
                    table.write(row)
            for path in (native, parquet):
                assert without_lines(*read(path, role)) == without_lines(records, [])


def without_lines(records: list[Any], problems: list[str]) -> tuple[list[Any], list[str]]:
    for record in records:
        record.line = 0
    return records, problems


def test_the_stored_grader_gives_the_recorded_grades():
    question = Task.from_row({"task_id": "t", "mode": "answer", "answer": "x"})
    worker = Worker(Options(grader="stored"))
    graded = 0
    for name in names():
        for rollout in read(FILES / name, Role.ROLLOUTS)[0] if Role.ROLLOUTS in roles_of(name) else ():
            if rollout.recorded_verdict is None:
                continue
            grade = worker.grade(question, rollout)
            assert grade.verdict is rollout.recorded_verdict
            assert (grade.verdict, grade.reward, grade.error_message) == recorded_grade(rollout)
            if rollout.given_reward is None and grade.verdict.graded:
                assert grade.reward == (grade.verdict is Verdict.PASSED)
            graded += 1
    assert graded > 60


if __name__ == "__main__":
    found = {name: json.dumps(described(name), ensure_ascii=False) for name in names()}
    EXPECTED.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {value}" for name, value in found.items()) + "\n}\n")
