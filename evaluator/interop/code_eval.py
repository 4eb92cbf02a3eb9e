"""The `code_eval` metric of the Hugging Face Hub, which runs programs with their asserts, graded with Rollscope:

    pass_at_k, results = code_eval.compute(references=["assert add(2, 3) == 5"], predictions=[["def add(a, b): ..."]])

lm-evaluation-harness and bigcode-evaluation-harness call it. `evaluate` is not imported, except by `use_in_evaluate`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypedDict

from evaluator.formats.tests_alone import task_of_code
from evaluator.interop.program_results import evaluated, task_or_problem


class CandidateResult(TypedDict):
    """The result of one candidate; `passed` is None if it has no grade."""

    task_id: int
    passed: bool | None
    result: str
    completion_id: int


Results = dict[int, list[tuple[int, CandidateResult]]]


def compute(
    references: Sequence[str],
    predictions: Sequence[Sequence[str]],
    k: Sequence[int] = (1, 10, 100),
    num_workers: int = 4,
    timeout: float = 3.0,
) -> tuple[dict[str, float], Results]:
    """pass@k of the candidates of each task, `{"pass@1": 0.5}`, and each task's results by its place from 0.

    `references`: a task's test code, which runs after the program. `predictions`: its candidates, each a program. `k`:
    one that some task has too few candidates for is left out. `num_workers` is ignored: as many run at once as this
    process has CPUs. `timeout`: seconds for a candidate with all its tests.

    A candidate without a grade (its test code can't be read, the sandbox failed) has `passed` None, is left out of
    pass@k, and gives a warning; pass@k is NaN if no grade remains. Raises `ValueError` if the lengths differ or a
    prediction is not a list, and `SandboxUnavailable` if no sandbox starts.

    >>> candidates = ["def add(a, b): return a * b", "def add(a, b): return a + b"]
    >>> compute(references=["assert add(2, 3) == 5"], predictions=[candidates], k=[1, 2])[0]
    {'pass@1': 0.5, 'pass@2': 1.0}
    """
    del num_workers
    if len(references) != len(predictions):
        raise ValueError(f"{len(references)} references for {len(predictions)} predictions: give one for each task")
    if any(isinstance(candidates, str) for candidates in predictions):
        raise ValueError("a prediction is text: give a list of candidates for each task")
    for place, candidates in enumerate(predictions):
        if not all(isinstance(code, str) for code in candidates):
            raise ValueError(f"predictions[{place}] has a candidate that is not text: give programs")
    tasks = {place: task_or_problem(task_of_code, reference, str(place)) for place, reference in enumerate(references)}
    samples = [(place, code) for place, candidates in enumerate(predictions) for code in candidates]
    found, pass_at_k = evaluated(tasks, samples, timeout, k)
    results: Results = defaultdict(list)
    for (place, _), result in zip(samples, found, strict=True):
        number = len(results[place])
        own = CandidateResult(task_id=place, passed=result.passed, result=result.text, completion_id=number)
        results[place].append((number, own))
    return pass_at_k, results


def use_in_evaluate() -> None:
    """Makes `evaluate.load("code_eval")` return this module, in this process; it needs neither the Hub nor its
    environment variable. Call it before the harness loads its tasks."""
    import evaluate

    load = evaluate.load

    def load_ours(path: str, *arguments: Any, **options: Any) -> Any:
        return sys.modules[__name__] if path == "code_eval" else load(path, *arguments, **options)

    evaluate.load = load_ours
