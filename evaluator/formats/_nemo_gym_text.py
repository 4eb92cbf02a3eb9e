"""Reads the items of OpenAI's Responses API as NeMo Gym stores them: the prompt, the final text, the conversation.

An item is `{type, ...}`; one without a type is a message. Unknown types are tolerated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from evaluator.formats.fields import Fields
from evaluator.model import JsonValue, RecordError

_LONGEST_TEXT = 20_000
"""Characters kept of one item's text."""
_LONGEST_CONVERSATION = 1_000_000
"""Characters kept of all items together."""
_HIDDEN_ENDINGS = ("_token_ids", "_log_probs", "logprobs")
"""Endings of fields that hold what a model computed, not what it said."""


def prompt_of(params: JsonValue) -> str:
    """The prompt as one text, from `responses_create_params`: instructions, then all of the input.

    This includes the arguments and outputs of tool calls in the input. Raises `RecordError`.
    """
    if not isinstance(params, Mapping):
        example = '{"input": [{"role": "user", "content": "..."}]}'
        raise RecordError(f"responses_create_params must be an object, for example {example}")
    items = params.get("input")
    if isinstance(items, str):
        texts = [items]
    elif isinstance(items, list):
        texts = [_prompt_text(item, index) for index, item in enumerate(items)]
    else:
        raise RecordError("responses_create_params.input must be text or a list of messages: add the prompt")
    instructions = params.get("instructions")
    return "\n\n".join(filter(None, [instructions if isinstance(instructions, str) else "", *texts]))


def output_text(response: Fields) -> str:
    """The model's own words: the texts of all its messages, joined as OpenAI's client joins them."""
    return "".join(text for item in items_of(response) if is_answer(item) for text in _texts(item.get("content")))


def items_of(response: Fields) -> list[Mapping[str, JsonValue]]:
    """The items of a response that are objects."""
    output = response.get("output")
    return [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []


def is_answer(item: Mapping[str, JsonValue]) -> bool:
    """Whether the model said it, not a tool or a simulated user."""
    return (item.get("type", "message"), item.get("role", "assistant")) == ("message", "assistant")


def conversation_of(response: Fields) -> list[dict[str, JsonValue]]:
    """The items after the prompt, for display; empty if there is only one message.

    Each has its `type` and, if known, `role`, `name`, `arguments`, `text` and `output`, all as text. `omitted` is the
    number of characters that were cut.
    """
    items = items_of(response)
    if len(items) < 2 and all(map(is_answer, items)):
        return []
    left = _LONGEST_CONVERSATION
    conversation = []
    for item in items:
        shown = _shown(item, min(left, _LONGEST_TEXT))
        left = max(0, left - sum(len(text) for text in shown.values() if isinstance(text, str)))
        conversation.append(shown)
    return conversation


def _prompt_text(item: JsonValue, index: int) -> str:
    if not isinstance(item, Mapping):
        raise RecordError(f"responses_create_params.input[{index}] must be a message, not {type(item).__name__}")
    said = "".join(_texts(item.get("content")))
    parts = (item.get("name"), item.get("arguments"), said, _as_text(item.get("output")))
    return " ".join(part for part in parts if isinstance(part, str) and part)


def _texts(content: JsonValue) -> Iterator[str]:
    """The texts of a message's content, which is one text or a list of parts."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str):
            yield text


def _shown(item: Mapping[str, JsonValue], longest: int) -> dict[str, JsonValue]:
    kind = item.get("type")
    shown: dict[str, JsonValue] = {"type": kind if isinstance(kind, str) and kind else "message"}
    for name in ("role", "name", "arguments", "output"):
        if item.get(name):
            shown[name] = _as_text(item[name])
    text = "".join([*_texts(item.get("summary")), *_texts(item.get("content")), *_texts(item.get("text"))])
    if text:
        shown["text"] = text
    elif len(shown) == 1:
        shown["text"] = _rest(item)
    return _cut(shown, longest)


def _as_text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    texts = "".join(_texts(value))
    return texts or ("" if value is None else json.dumps(value, ensure_ascii=False))


def _rest(item: Mapping[str, JsonValue]) -> str:
    """The fields of an item of unknown type, as JSON."""
    said = {
        name: value
        for name, value in item.items()
        if value is not None and name not in ("type", "id", "status") and not name.endswith(_HIDDEN_ENDINGS)
    }
    return json.dumps(said, ensure_ascii=False) if said else ""


def _cut(shown: dict[str, JsonValue], longest: int) -> dict[str, JsonValue]:
    omitted = 0
    for name, text in shown.items():
        if name != "type" and len(text) > longest:
            omitted += len(text) - longest
            shown[name] = text[:longest]
    return {**shown, "omitted": omitted} if omitted else shown
