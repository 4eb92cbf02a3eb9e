"""Tasks that ask for an answer, not for code: `{"query", "answer", "metadata"}`, and their samples.

`query` is the prompt: text, or messages. `answer` is the right answer, in the form its grader expects. `grader` (a name
or an object) and the id (`task_id` or `id`) are at the top or in `metadata`; a row without an id gets one made from its
query. Samples are such rows with a `response` or `completion`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import JsonValue, Mode, RecordError, Rollout, Task

_IDS = ("task_id", "id")
_SAMPLES = ("response", "completion")
_PASSED_ON = ("grader", "reference", "limits", "source", "licence")
_TAKEN = {"query", "answer", "metadata", "grader", *_IDS, *_PASSED_ON, *_SAMPLES}
_SAMPLE_FIELDS = {
    "query", "answer", "metadata", "sample_id", "sample_index", "model", "step", "group", *_IDS, *_SAMPLES,
}  # fmt: skip


def claim_task(fields: Fields) -> Claim | None:
    if "query" not in fields or "answer" not in fields or field.first(fields, _SAMPLES):
        return None
    return Claim(3, "query, answer, metadata") if "metadata" in fields else Claim(2, "query, answer")


def claim_rollout(fields: Fields) -> Claim | None:
    name = field.first(fields, _SAMPLES)
    return Claim(2, f"query, {name}") if name and "query" in fields else None


def read_task(fields: Fields) -> Task:
    """One task. Raises `RecordError` if it has no answer."""
    if fields.get("answer") is None:
        raise RecordError("answer is missing: add the right answer, in the form that the task's grader expects")
    inner = _metadata(fields)
    row: dict[str, JsonValue] = {name: fields[name] for name in _PASSED_ON if fields.get(name) is not None}
    if "grader" not in row and inner.get("grader") is not None:
        row["grader"] = inner["grader"]
    prompt = _query(fields)
    row |= {"task_id": _task_id(fields, inner, prompt), "mode": Mode.ANSWER, "prompt": prompt}
    task = Task.from_row(row | {"answer": fields["answer"]})
    task.metadata = {**field.without(fields, _TAKEN), **field.without(inner, {"grader", *_IDS})}
    return task


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The sample of one row: its text, or its last message."""
    name = field.first(fields, _SAMPLES)
    if name is None:
        raise RecordError("response is missing: add the text that the model wrote")
    text, said = field.completion(fields, name)
    yield Rollout(
        task_id=_task_id(fields, _metadata(fields), _query(fields)),
        completion=text,
        sample_id=field.optional_identifier(fields, "sample_id") or "",
        sample_index=field.optional_whole(fields, "sample_index"),
        model=field.optional_identifier(fields, "model"),
        step=field.optional_whole(fields, "step"),
        group=field.optional_identifier(fields, "group"),
        metadata={**field.without(fields, _SAMPLE_FIELDS), **said},
    )


def _metadata(fields: Fields) -> Mapping[str, JsonValue]:
    return field.optional_object(fields, "metadata", '{"grader": "exact_match"}') or {}


def _query(fields: Fields) -> str:
    value = fields.get("query")
    return field.conversation_text(value, "query", whole=True) if value else ""


def _task_id(fields: Fields, inner: Mapping[str, JsonValue], query: str) -> str:
    for place in (fields, inner):
        for name in _IDS:
            if place.get(name) is not None:
                return field.identifier(place, name)
    if not query:
        raise RecordError("the row has neither an id nor a query: add a task_id")
    return field.id_from_prompt(query)


FORMAT = Format(
    name="query_answer",
    title="Questions with an answer: query, answer, metadata; query, response",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
