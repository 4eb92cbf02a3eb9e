"""The request and the response of `verify` in the form of the page "Building Custom Resource Servers".

A request is a conversation and metadata of its task; rows of NeMo Gym 0.7.0 are converted to that form. See
docs/nemo-gym-document.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluator.interop.nemo_gym.wire import JsonObject, ModelResponse, ResponsesCreateParams

_ASKED, _ANSWERED = "responses_create_params", "response"
_KNOWN = ("metadata", "verifier_metadata")


class BaseVerifyRequest(BaseModel):
    """What `verify` gets. A subclass may declare more fields of its rows.

    BaseVerifyRequest(input=[{"role": "assistant", "content": "42"}], metadata={"answer": "42"})
    """

    input: list[JsonObject]
    """The messages of prompt and answer, each `{"role", "content"}`; tool calls and other items unchanged."""
    metadata: JsonObject = Field(default_factory=dict, exclude=True)
    """The task's data. Over HTTP: the row's `verifier_metadata`, over its `metadata`, over its other fields.
    `model_dump` leaves it out: it may hold the right answer, and a response may have its own `metadata`."""
    responses_create_params: ResponsesCreateParams | None = None
    """Unchanged from HTTP; None in a request built by hand."""
    response: ModelResponse | None = None
    """Unchanged from HTTP, as above; `response.output_text` is the answer's text."""

    @model_validator(mode="before")
    @classmethod
    def _read_row(cls, value: object) -> object:
        """Converts a row with a response to this form; leaves this form unchanged."""
        if not isinstance(value, Mapping) or not {_ASKED, _ANSWERED} <= value.keys():
            return value
        asked, answered = value[_ASKED], value[_ANSWERED]
        prompt = asked.get("input") if isinstance(asked, Mapping) else None
        output = answered.get("output") if isinstance(answered, Mapping) else None
        return {**value, "input": [*_conversation(prompt), *_conversation(output)], "metadata": _known(value)}


class BaseVerifyResponse(BaseModel):
    """What `verify` returns: `BaseVerifyResponse(**body.model_dump(), reward=1.0)`. More fields are kept, and NeMo Gym
    averages the numbers among them."""

    model_config = ConfigDict(extra="allow")

    input: list[JsonObject] = Field(default_factory=list, exclude=True)
    """Not sent over HTTP, since the next two fields have the same content."""
    responses_create_params: ResponsesCreateParams | None = None
    response: ModelResponse | None = None
    reward: float
    metadata: JsonObject | None = None
    mask_sample: bool = False
    """Whether to leave the reward out of all figures; `failure_reason` says why."""
    failure_kind: str | None = None
    failure_reason: str | None = None


def last_answer(conversation: list[JsonObject]) -> str:
    """The text of the assistant's last message, else an empty text: None would equal a row's missing answer."""
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
    """A message's content as text; it may be a list of parts."""
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
