"""Reads the items of OpenAI's Responses API as NeMo Gym stores them: the prompt, the final text, the conversation.

An item is `{type, ...}`; one without a type is a message. Items of types that are not known are tolerated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from evaluator.formats.fields import Fields
from evaluator.model import JsonValue, RecordError

_LONGEST_TEXT = 20_000
"""Characters that are kept of one item's text."""
_LONGEST_CONVERSATION = 1_000_000
"""Characters that are kept of all of them."""
_UNSEEN = ("_token_ids", "_log_probs", "logprobs")
"""Ends of names that hold what a model computed, not what it said."""


def prompt_of(params: JsonValue) -> str:
    """What the model was asked, as one text, from `responses_create_params`: instructions, then all of the input.

    Of an input with tool calls, their arguments and outputs are part of it. Raises `RecordError`.
    """
    if not isinstance(params, Mapping):
        raise RecordError('responses_create_params is no object: give {"input": [{"role": "user", "content": "..."}]}')
    given = params.get("input")
    if isinstance(given, str):
        texts = [given]
    elif isinstance(given, list):
        texts = [_prompt_text(item, place) for place, item in enumerate(given)]
    else:
        raise RecordError("responses_create_params.input is neither text nor a list of messages: give what is asked")
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
    """Whether the model said it: a tool's or a played user's text is none."""
    return (item.get("type", "message"), item.get("role", "assistant")) == ("message", "assistant")


def conversation_of(response: Fields) -> list[dict[str, JsonValue]]:
    """What came between the prompt and the end, for display; nothing where that is one message.

    An item has its `type` and, where there is one, `role`, `name`, `arguments`, `text` and `output`, all as text.
    `omitted` says how many characters of it were left out.
    """
    items = items_of(response)
    if len(items) < 2 and all(map(is_answer, items)):
        return []
    left = _LONGEST_CONVERSATION
    conversation = []
    for item in items:
        shown = _shown(item, min(left, _LONGEST_TEXT))
        left -= sum(len(text) for text in shown.values() if isinstance(text, str))
        left = max(left, 0)
        conversation.append(shown)
    return conversation


def _prompt_text(item: JsonValue, place: int) -> str:
    if not isinstance(item, Mapping):
        raise RecordError(f"responses_create_params.input[{place}] is {type(item).__name__}, no message")
    said = "".join(_texts(item.get("content")))
    parts = (item.get("name"), item.get("arguments"), said, _as_text(item.get("output")))
    return " ".join(part for part in parts if isinstance(part, str) and part)


def _texts(content: JsonValue) -> Iterator[str]:
    """The texts of a message's content: one text, or parts of which some have one."""
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
    """What an item of an unknown type has, as JSON."""
    said = {
        name: value
        for name, value in item.items()
        if value is not None and name not in ("type", "id", "status") and not name.endswith(_UNSEEN)
    }
    return json.dumps(said, ensure_ascii=False) if said else ""


def _cut(shown: dict[str, JsonValue], longest: int) -> dict[str, JsonValue]:
    omitted = 0
    for name, text in shown.items():
        if name != "type" and len(text) > longest:
            omitted += len(text) - longest
            shown[name] = text[:longest]
    return {**shown, "omitted": omitted} if omitted else shown
