"""lm-evaluation-harness: the samples that it logs (`samples_<task>_<date>.jsonl`) of tasks that generate text.

A row has `doc` (the dataset's row), `arguments` (the prompt first), `resps` (one list of responses), `filtered_resps`,
and each metric's value. Of code tasks the completion is the filtered response, which was graded, of all others the
response. A metric belongs to all responses of a row: where there are several, it is a verdict only if all passed or
none did. Each filter of a task has rows of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.registry import Claim, Fields, Format, claim_by
from evaluator.model import JsonValue, Kind, RecordError, Rollout, Task

_VERDICTS = ("pass@1", "pass_at_1", "exact_match", "acc")
"""Metrics whose 1 means that all is right, likeliest first."""
_TAKEN = {"doc_id", "doc", "arguments", "resps", "filtered_resps", "metrics", "eval_task", "model", "step"}
_IDS = ("task_id", "question_id", "problem_id")
_NAME = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[^/]*")


claim_rollout = claim_by(3, "doc_id, doc, resps, filtered_resps")


def claim_task(fields: Fields) -> Claim | None:
    if claim_rollout(fields) is None or _task(fields) is None:
        return None
    return Claim(2, "doc with tests")


def read_task(fields: Fields) -> Task:
    """The task of one row, where its `doc` is a known dataset's row or has tests."""
    task = _task(fields)
    if task is None:
        raise RecordError("doc has no tests: name a dataset")
    task.task_id = _task_id(fields)
    return task


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """One rollout for each response of a row. Raises `RecordError` for a task that is scored by likelihood."""
    responses = _responses(fields.get("resps"))
    metrics = _metrics(fields)
    runs_code = any(name.startswith("pass") for name in metrics)
    graded = _graded(fields.get("filtered_resps"), len(responses)) if runs_code else []
    metadata = trainer.rest(fields, {*_TAKEN, *metrics})
    if _task(fields) is None:
        metadata["doc"] = fields.get("doc")
    if len(metrics) > 1:
        metadata["reward_components"] = dict(metrics)
    name = next((name for name in _VERDICTS if name in metrics), None)
    if name is None and len(metrics) == 1:
        name = next(iter(metrics))
    by = f"lm-evaluation-harness ({fields['filter']})" if isinstance(fields.get("filter"), str) else None
    for place, response in enumerate(responses):
        own = {"response": response} if graded and graded[place] != response else {}
        yield Rollout(
            task_id=_task_id(fields),
            completion=graded[place] if graded else response,
            kind=Kind.FULL if graded else None,
            model=field.optional_identifier(fields, "model"),
            metadata=metadata | own | ({} if graded else {"filtered": fields.get("filtered_resps")}),
            **_grade(name, metrics, len(responses), by or "lm-evaluation-harness"),
        )


def read_prompt(fields: Fields) -> str:
    """The first argument of the first request: text, or messages as JSON text."""
    arguments = fields.get("arguments")
    request = next(iter(arguments.values() if isinstance(arguments, Mapping) else arguments or ()), None)
    first = next(iter(request.values() if isinstance(request, Mapping) else request or ()), None)
    while isinstance(first, list) and len(first) == 1 and isinstance(first[0], str):
        first = first[0]
    if not isinstance(first, str):
        return ""
    try:
        messages = decode_json(first) if first.startswith("[{") else None
    except JsonError:
        return first
    return chat.prompt_text(chat.messages_of(messages, "arguments", "user")) if messages else first


def from_name(path: str) -> Fields:
    """The task of `samples_<task>_<date>.jsonl`, and the model, after which its folder is named."""
    name = PurePath(path)
    found = _NAME.match(name.name)
    if not found:
        return {}
    folder = name.parent.name
    return {"eval_task": found[1]} | ({"model": folder.replace("__", "/")} if "__" in folder else {})


def _responses(resps: JsonValue) -> list[str]:
    first = resps[0] if isinstance(resps, list) and len(resps) == 1 else None
    texts = [first] if isinstance(first, str) else first
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise RecordError("resps has no generated text: tasks that are scored by likelihood have no completions")
    return texts


def _graded(filtered: JsonValue, count: int) -> list[str]:
    """The texts that were graded, where the filter made one of each response: the code of a code task."""
    texts = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else None
    fits = isinstance(texts, list) and len(texts) == count and all(isinstance(text, str) for text in texts)
    return texts if isinstance(texts, list) and fits else []


def _metrics(fields: Fields) -> dict[str, float]:
    names = fields.get("metrics")
    if not isinstance(names, list):
        names = [name for name in fields if name in _VERDICTS]
    found = ((name, trainer.number(fields.get(name))) for name in names if isinstance(name, str))
    return {name: value for name, value in found if value is not None}


def _grade(name: str | None, metrics: Mapping[str, float], responses: int, by: str) -> dict[str, JsonValue]:
    value = metrics[name] if name else None
    decided = name in _VERDICTS and (value in (0, 1) or responses == 1)
    reward = value if decided or responses == 1 else None
    return trainer.grade(by, reward, value == 1 if decided else None, f"{name}={value}" if decided else None)


def _task(fields: Fields) -> Task | None:
    doc = fields.get("doc")
    known = trainer.dataset_task(doc)
    if known is not None:
        return known
    tests = trainer.tests_in(doc)
    return None if tests is None else trainer.task_with(tests, "task", read_prompt(fields), "lm-evaluation-harness")


def _task_id(fields: Fields) -> str:
    """The dataset's, which is in its row; else the number in the task, or made from the prompt."""
    doc = fields.get("doc")
    own = field.own_id(doc, _IDS) if isinstance(doc, Mapping) else None
    if own is not None:
        return own
    task, number = field.optional_identifier(fields, "eval_task"), field.optional_identifier(fields, "doc_id")
    if task and number is not None:
        return f"{task}/{number}"
    prompt = read_prompt(fields)
    if not prompt and number is None:
        raise RecordError("the row has neither a doc_id nor a prompt: add one")
    return field.id_from_prompt(prompt) if prompt else f"doc-{number}"


FORMAT = Format(
    name="lm_eval",
    title="lm-evaluation-harness: samples, doc_id, doc, resps, filtered_resps",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
    repeats_tasks=True,
    read_prompt=read_prompt,
    from_name=from_name,
)
