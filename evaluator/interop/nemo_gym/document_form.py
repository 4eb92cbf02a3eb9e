"""The request and the response of `verify` as the page "Building Custom Resource Servers" has them.

A request there is a conversation and what is known of its task; over HTTP the rows of NeMo Gym 0.7.0 are read into
that form. See docs/nemo-gym-document.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluator.interop.nemo_gym.wire import JsonObject, ModelResponse, ResponsesCreateParams

_ASKED, _ANSWERED = "responses_create_params", "response"
_KNOWN = ("metadata", "verifier_metadata")


class BaseVerifyRequest(BaseModel):
    """What is to be verified. A subclass may declare further fields of its rows."""

    input: list[JsonObject]
    """The prompt's messages and what the model answered, each `{"role", "content"}`; tool calls and the like are items
    as they came."""
    metadata: JsonObject = Field(default_factory=dict, exclude=True)
    """What is known of the task. Over HTTP: the row's `verifier_metadata`, over its `metadata`, over its other fields.
    `model_dump` leaves it out: it may hold what is right, and an answer may have a `metadata` of its own."""
    responses_create_params: ResponsesCreateParams | None = None
    """As it came over HTTP."""
    response: ModelResponse | None = None
    """As it came over HTTP; `response.output_text` is the answer's text."""

    @model_validator(mode="before")
    @classmethod
    def _read_row(cls, value: object) -> object:
        """A row with a response, in this form; what is in this form already stays as it is."""
        if not isinstance(value, Mapping) or not {_ASKED, _ANSWERED} <= value.keys():
            return value
        asked, answered = value[_ASKED], value[_ANSWERED]
        prompt = asked.get("input") if isinstance(asked, Mapping) else None
        output = answered.get("output") if isinstance(answered, Mapping) else None
        return {**value, "input": [*_conversation(prompt), *_conversation(output)], "metadata": _known(value)}


class BaseVerifyResponse(BaseModel):
    """What it is worth: `BaseVerifyResponse(**body.model_dump(), reward=1.0)`. Further fields are kept; NeMo Gym gives
    the mean of each number on top."""

    model_config = ConfigDict(extra="allow")

    input: list[JsonObject] = Field(default_factory=list, exclude=True)
    """Left out of what goes over HTTP, where the next two fields say the same."""
    responses_create_params: ResponsesCreateParams | None = None
    response: ModelResponse | None = None
    reward: float
    metadata: JsonObject | None = None
    mask_sample: bool = False
    """Whether the reward measures nothing, and is to be left out; `failure_reason` says why."""
    failure_kind: str | None = None
    failure_reason: str | None = None


def last_answer(conversation: list[JsonObject]) -> str:
    """The text of the assistant's last message; empty where it said nothing. Never None, which a row without an answer
    would equal."""
    for item in reversed(conversation):
        if item.get("role") == "assistant":
            return _text(item.get("content"))
    return ""


def _conversation(items: object) -> Iterator[JsonObject]:
    if isinstance(items, str):
        yield {"role": "user", "content": items}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            role = item.get("role")
            yield {"role": role, "content": _text(item.get("content"))} if isinstance(role, str) else dict(item)


def _text(content: object) -> str:
    """A message's text, from either of its forms: a text, or parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") if isinstance(part, Mapping) else None for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _known(row: Mapping[str, object]) -> dict[str, object]:
    known = {name: value for name, value in row.items() if name not in (_ASKED, _ANSWERED)}
    for name in _KNOWN:
        inner = known.get(name)
        if isinstance(inner, Mapping):
            del known[name]
            known |= inner
    return known
