"""Tasks that ask for an answer, not for code: `query`, `answer`, `metadata`; and such rows with a `response`."""

from __future__ import annotations

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Rollouts, Tasks, claims, taken
from evaluator.model import JsonValue, RecordError


def _metadata(fields: Fields) -> Fields:
    return field.optional_object(fields, "metadata", '{"grader": "exact_match"}') or {}


def _task_id(fields: Fields) -> JsonValue:
    return taken({**fields, "metadata": _metadata(fields)}, "task_id|id|metadata.task_id|metadata.id")


def _answer(fields: Fields) -> JsonValue:
    if fields.get("answer") is None:
        raise RecordError("answer is missing: add the right answer, in the form that the task's grader expects")
    return fields["answer"]


FORMAT = Format(
    name="query_answer",
    title="Questions with an answer: query, answer, metadata; query, response",
    tasks=Tasks(
        claim=claims(
            "3: query, answer, metadata, !response:some, !completion:some; "
            "2: query, answer, !response:some, !completion:some"
        ),
        task_id=_task_id,
        prompt="query",
        answer=_answer,
        same="reference, limits, source, licence",
        grader=lambda fields: fields.get("grader") or _metadata(fields).get("grader"),
        metadata=lambda fields: field.without(_metadata(fields), {"grader", "task_id", "id"}),
        left_out="task_id, id, answer, grader, metadata, response, completion",
    ),
    rollouts=Rollouts(
        claim=claims("2: query, response:some|completion:some"),
        completion="response|completion",
        prompt="query",
        task_id=_task_id,
        left_out="task_id, id, answer, metadata",
    ),
)
