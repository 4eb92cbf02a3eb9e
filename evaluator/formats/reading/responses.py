"""Items of OpenAI's Responses API: `{type, ...}`, without a type a message. Unknown types are tolerated."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evaluator.formats.reading.chat import texts_in
from evaluator.formats.reading.fields import Fields
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
    if not isinstance(items, str | list):
        raise RecordError("responses_create_params.input must be text or a list of messages: add the prompt")
    texts = [items] if isinstance(items, str) else [_prompt_text(item, index) for index, item in enumerate(items)]
    instructions = params.get("instructions")
    return "\n\n".join(filter(None, [instructions if isinstance(instructions, str) else "", *texts]))


def output_text(response: Fields) -> str:
    """The model's own words: the texts of all its messages, joined as OpenAI's client joins them."""
    return "".join(text for item in _items_of(response) if _is_answer(item) for text in texts_in(item.get("content")))


def conversation_of(response: Fields) -> list[dict[str, JsonValue]]:
    """The items after the prompt, for display; empty if there is only one message.

    Each has its `type` and, if known, `role`, `name`, `arguments`, `text` and `output`, all as text. `omitted` is the
    number of characters that were cut.
    """
    items = _items_of(response)
    if len(items) < 2 and all(map(_is_answer, items)):
        return []
    left = _LONGEST_CONVERSATION
    conversation = []
    for item in items:
        shown = _cut(_shown(item), min(left, _LONGEST_TEXT))
        left = max(0, left - sum(len(text) for text in shown.values() if isinstance(text, str)))
        conversation.append(shown)
    return conversation


def _items_of(response: Fields) -> list[Mapping[str, JsonValue]]:
    output = response.get("output")
    return [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []


def _is_answer(item: Mapping[str, JsonValue]) -> bool:
    """Whether the model said it, not a tool or a simulated user."""
    return (item.get("type", "message"), item.get("role", "assistant")) == ("message", "assistant")


def _prompt_text(item: JsonValue, index: int) -> str:
    if not isinstance(item, Mapping):
        raise RecordError(f"responses_create_params.input[{index}] must be a message, not {type(item).__name__}")
    said = "".join(texts_in(item.get("content")))
    parts = (item.get("name"), item.get("arguments"), said, _as_text(item.get("output")))
    return " ".join(part for part in parts if isinstance(part, str) and part)


def _shown(item: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Of an item of unknown type, that says nothing, its fields as JSON."""
    kind = item.get("type")
    shown: dict[str, JsonValue] = {"type": kind if isinstance(kind, str) and kind else "message"}
    shown |= {name: _as_text(item[name]) for name in ("role", "name", "arguments", "output") if item.get(name)}
    text = "".join(text for name in ("summary", "content", "text") for text in texts_in(item.get(name)))
    if text or len(shown) > 1:
        return {**shown, "text": text} if text else shown
    rest = {
        name: value
        for name, value in item.items()
        if value is not None and name not in ("type", "id", "status") and not name.endswith(_HIDDEN_ENDINGS)
    }
    return {**shown, "text": json.dumps(rest, ensure_ascii=False) if rest else ""}


def _as_text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return "".join(texts_in(value)) or ("" if value is None else json.dumps(value, ensure_ascii=False))


def _cut(shown: dict[str, JsonValue], longest: int) -> dict[str, JsonValue]:
    cut = {name: text if name == "type" else text[:longest] for name, text in shown.items()}
    omitted = sum(len(shown[name]) - len(cut[name]) for name in shown)
    return {**cut, "omitted": omitted} if omitted else cut
