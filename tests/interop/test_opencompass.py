"""OpenCompass's evaluators by their `score`, with rows as its data sets have them. OpenCompass itself is not needed."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from evaluator.interop.opencompass import HumanEvalEvaluator, LCBCodeGenerationEvaluator, MBPPEvaluator

HUMANEVAL = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f"from math import floor\n\n\ndef half(n):\n    '''{number}'''\n",
        "entry_point": "half",
        "canonical_solution": "    return n // 2\n",
        "test": "def check(candidate):\n    assert candidate(5) == 2\n",
    }
    for number in range(2)
]
BODY, WHOLE, WRONG = "    return floor(n / 2)\n", "def half(n):\n    return n // 2\n", "    return n / 2\n"
IDS = [row["task_id"] for row in HUMANEVAL]
ASSERTS = "assert add(1, 2) == 3\nassert add(0, 0) == 0"
ADD = "def add(a, b):\n    return a + b"


def test_humaneval_has_its_estimates_and_details() -> None:
    found = HumanEvalEvaluator().score([BODY, WRONG], IDS, HUMANEVAL)
    details = found.pop("details")
    assert found == {"humaneval_pass@1": 50.0}
    assert details["0"] == {
        "task_id": "HumanEval/0",
        "completion": BODY,
        "result": "passed",
        "passed": True,
        "is_correct": True,
        "prompt": HUMANEVAL[0]["prompt"],
    }
    assert (details["1"]["is_correct"], details["1"]["result"]) == (False, "failed: wrong_answer: expected 2, got 2.5")


def test_humaneval_takes_several_samples_of_a_prediction_and_repeated_rows() -> None:
    found = HumanEvalEvaluator(k=[1, 2]).score([[WHOLE, WRONG], [BODY, BODY]], IDS, HUMANEVAL)
    assert (found["humaneval_pass@1"], found["humaneval_pass@2"]) == (75.0, 100.0)
    prompts = [detail["prompt"] for detail in found["details"].values()]
    assert prompts == [HUMANEVAL[0]["prompt"]] * 2 + [HUMANEVAL[1]["prompt"]] * 2
    repeated = HumanEvalEvaluator(k=[1, 2]).score([WHOLE, WRONG, BODY, BODY], sorted(IDS * 2), HUMANEVAL * 2)
    assert {**repeated, "details": 0} == {**found, "details": 0}


@pytest.mark.parametrize(
    "answer",
    [
        ADD,
        f"Sure:\n```python\n{ADD}\n```\nDone.",
        f"[BEGIN]\n '{ADD}'\n[DONE]\nProblem: [BEGIN]",
        f"[BEGIN]\n{ADD}\n[DONE]",
        f"'{ADD}'[DONE]"[1:],
    ],
)
def test_mbpp_takes_the_answers_of_its_prompts(answer: str) -> None:
    found = MBPPEvaluator().score([answer], [ASSERTS])
    assert (found["pass"], found["score"]) == (1, 100.0)


def test_mbpp_counts_each_kind_of_end() -> None:
    answers = [ADD, "def add(a, b): return 3", "def add(a, b): return a / 0", "import os\nos._exit(0)"]
    found = MBPPEvaluator().score(answers, [ASSERTS] * 4)
    details = found.pop("details")
    assert found == {"pass": 1, "timeout": 0, "failed": 2, "wrong_answer": 1, "score": 25.0}
    assert [details[str(number)]["result"] for number in range(4)] == ["pass", "wrong_answer", "failed", "failed"]
    assert [details[str(number)]["is_correct"] for number in range(4)] == [True, False, False, False]
    assert (details["1"]["origin"], details["1"]["programs"]) == (answers[1], [answers[1], ASSERTS])


def test_what_has_no_grade_counts_for_nothing() -> None:
    with pytest.warns(UserWarning, match="1 of 2 programs have no grade"):
        found = MBPPEvaluator().score([ADD, ADD], [ASSERTS, "assert ("])
    assert (found["score"], found["ungraded"], found["details"]["1"]["is_correct"]) == (100.0, 1, None)
    with pytest.warns(UserWarning, match="1 of 1 programs have no grade"):
        assert math.isnan(MBPPEvaluator().score([ADD], ["assert ("])["score"])


def question(number: int, date: str = "2024-01-01T00:00:00", **in_outs: Any) -> dict[str, Any]:
    sample = json.dumps({"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": None, **in_outs})
    return {"question_id": str(number), "evaluation_sample": sample, "contest_date": date, "starter_code": ""}


def test_livecodebench_has_a_code_for_each_test() -> None:
    rows = [question(0), question(1, fn_name="add"), question(2)]
    reads = "```python\nprint(int(input()) + int(input()))\n```"
    answers = [reads, "```python\nclass Solution:\n    def add(self, a, b):\n        return 3\n```", ""]
    found = LCBCodeGenerationEvaluator(num_process_evaluate=4, timeout=6).score(answers, ["0", "1", "2"], rows)
    assert found["pass@1"] == pytest.approx(100 / 3)
    assert [detail["correct"] for detail in found["details"]] == [True, False, False]
    assert [detail["eval_result"] for detail in found["details"][:2]] == [[True, True], [True, False]]
    assert json.loads(found["details"][1]["final_metadata"])["error"] == "failed: wrong_answer: expected 4, got 3"
    assert found["details"][2]["extracted_prediction"] == ""


def test_livecodebench_leaves_out_other_dates() -> None:
    rows = [question(0), question(1, "2025-03-01T00:00:00")]
    evaluator = LCBCodeGenerationEvaluator(
        4, start_date="2025-01-01", end_date="2025-12-31", release_version="release_v5"
    )
    found = evaluator.score(["", "```\nprint(int(input()) + int(input()))\n```"], ["0", "1"], rows)
    assert (found["pass@1"], len(found["details"])) == (100.0, 1)


def test_what_does_not_fit_is_said() -> None:
    assert "error" in HumanEvalEvaluator().score([BODY], IDS, HUMANEVAL)
    assert "error" in MBPPEvaluator().score([], [ASSERTS])
    assert "error" in LCBCodeGenerationEvaluator().score([], ["0"], [question(0)])
    with pytest.raises(ValueError, match="metric 'MBPPPlus' is not supported"):
        MBPPEvaluator("MBPPPlus")
