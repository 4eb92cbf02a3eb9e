"""What the words of result files mean in ours, and what else is kept of them; `test_all_files` has each file's."""

import json
from pathlib import Path

import pytest

from evaluator.formats import load_rollouts
from evaluator.model import Rollout, Verdict
from evaluator.recorded import recorded_grade
from tests.formats.conftest import loaded

FILES = Path(__file__).parent / "files"


def test_the_source_s_account_of_a_failure_is_kept_and_is_the_reason():
    wrong = loaded(FILES / "livecodebench_eval_all.json")[0][1]
    account = wrong.metadata["metadata"]
    assert (account["inputs"], account["expected"], account["output"]) == ("2 5\n", "2\n", "0\n")
    assert recorded_grade(wrong)[2] == "Wrong answer at output_line_idx=0: 0 != 2"
    assert wrong.metadata["difficulty"] == "easy"
    error = loaded(FILES / "colossalai_code_training_step_20.jsonl")[0][2]
    assert (error.given_reward, error.step) == (0.0, 20)
    assert recorded_grade(error) == (Verdict.RUNTIME_ERROR, 0.0, "NameError(\"name 'x' is not defined\")")


def test_a_log_of_mbpp_names_its_tasks_otherwise(read):
    row = {"name": "mbpp_3_is_not_prime", "language": "py", "prompt": "def f(n):\n", "entry_point": "f"}
    row |= {"test": "def check(candidate):\n    assert candidate(2)\n", "solution": "def f(n): ...", "is_solved": False}
    format_, (rollout,), _ = read(load_rollouts, row, row | {"prompt": "fn f(n: i64) -> bool {\n", "name": "b"})
    assert (format_, rollout.task_id, rollout.recorded_word) == ("reflexion", "mbpp_3_is_not_prime", "is_solved false")


def test_a_multipl_e_program_comes_without_its_tests_and_with_its_humaneval_task():
    first = loaded(FILES / "multipl_e_HumanEval_53_add.results.json")[0][0]
    assert first.completion == 'def add(x: int, y: int) -> int:\n    """Add two numbers."""\n    return x + y\n'
    assert first.task_id == "HumanEval/53"


def test_a_solution_that_is_missing_loses_no_other(tmp_path):
    path = tmp_path / "eval_results.json"
    sample = {"solution": "x = 1", "base_status": "pass", "plus_status": None}
    path.write_text(json.dumps({"eval": {"a": [sample, {"base_status": "fail"}], "b": [sample]}}))
    rollouts, (problem,) = loaded(path)
    assert [r.task_id for r in rollouts] == ["a", "b"]
    assert "eval['a'][1] has no solution, like 1 in all" in problem.message


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("failed: ", Verdict.WRONG_ANSWER),
        ("failed: First test error: None", Verdict.WRONG_ANSWER),
        ("failed: This prints if this assert fails 1 (good for debugging!)", Verdict.WRONG_ANSWER),
        ("failed: list index out of range", Verdict.RUNTIME_ERROR),
        ("failed: invalid syntax (<string>, line 11)", Verdict.COMPILE_ERROR),
        ("timed out", Verdict.TIME_LIMIT),
        (["passed", "failed: x"], Verdict.WRONG_ANSWER),
    ],
)
def test_a_word_of_human_eval(read, word, verdict):
    row = {"task_id": "HumanEval/1", "completion": "    pass\n", "passed": False, "result": word}
    _, (rollout,), _ = read(load_rollouts, row)
    assert rollout.recorded_verdict is verdict


def test_a_language_that_is_not_python_is_reported(read):
    row = {"task_id": "MBJP/1", "completion": "int x;", "passed": True, "result": "passed", "language": "java"}
    _, rollouts, problems = read(load_rollouts, row, row | {"task_id": "MBPP/1", "language": "python"})
    assert [r.task_id for r in rollouts] == ["MBPP/1"]
    assert problems == ["language is 'java', not Python: it can't be graded here"]


def test_livecodebench_metadata_of_another_shape_is_no_account(read):
    row = {"question_id": "q", "output_list": ["x", "y"], "graded_list": [True, False], "metadata": {}}
    _, (right, wrong), problems = read(load_rollouts, row)
    assert (right.recorded_verdict, wrong.recorded_verdict) == (Verdict.PASSED, Verdict.WRONG_ANSWER)
    assert problems == []


@pytest.mark.parametrize(
    ("verdict", "given", "reward"),
    [
        (Verdict.PASSED, None, 1.0),
        (Verdict.TIME_LIMIT, None, 0.0),
        (Verdict.PASSED, 7.5, 7.5),
        (Verdict.SANDBOX_ERROR, 0.0, None),
    ],
)
def test_a_recorded_verdict_counts_before_all_else(verdict, given, reward):
    rollout = Rollout(
        task_id="t", completion="", given_reward=given, recorded_verdict=verdict, recorded_word="its word",
        metadata={"verdict": "wrong_answer", "result": [True, -2]},
    )  # fmt: skip
    assert recorded_grade(rollout)[:2] == (verdict, reward)
    assert recorded_grade(rollout)[2] == (None if verdict is Verdict.PASSED else "its word")
