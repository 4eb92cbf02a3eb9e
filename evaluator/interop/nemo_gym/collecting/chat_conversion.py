"""Translates requests of OpenAI's Responses API into Chat Completions, and the answers back.

A model's turn is several items in the former (reasoning, a message, function calls) and one assistant message in the
latter. Fields are named as in OpenAI's API reference, and `reasoning_content` as in vLLM, SGLang and DeepSeek.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Final

import msgspec

from evaluator.interop.nemo_gym.wire import JsonObject, within
from evaluator.model import JsonValue

_OWN_TO_RESPONSES: Final = {
    "background", "context_management", "conversation", "include", "input", "instructions", "max_output_tokens",
    "max_tool_calls", "metadata", "previous_response_id", "prompt", "reasoning", "store", "stream", "stream_options",
    "text", "tool_choice", "tools", "top_logprobs", "truncation", "parallel_tool_calls",
}  # fmt: skip
"""Fields that are converted, or have no meaning in a single chat completion."""
_CUT_OFF: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ConversionError(ValueError):
    """Something that Chat Completions can't express. One line."""


def chat_request(params: JsonObject, items: Iterable[JsonValue], length_field: str) -> JsonObject:
    """The body of a request for a chat completion. `items`: the input and all turns since.

    `length_field`: the endpoint's name for the limit of an answer. Raises `ConversionError`.
    """
    body: JsonObject = {name: value for name, value in params.items() if name not in _OWN_TO_RESPONSES}
    instructions = params.get("instructions")
    system: list[JsonValue] = [{"role": "system", "content": instructions}] if instructions else []
    body |= {"messages": system + _messages(items), length_field: params.get("max_output_tokens")}
    if params.get("top_logprobs"):
        body |= {"logprobs": True, "top_logprobs": params["top_logprobs"]}
    body |= _tools(params)
    body["reasoning_effort"] = within(params, "reasoning", "effort") or None
    body["verbosity"] = within(params, "text", "verbosity") or None
    body["response_format"] = _response_format(within(params, "text", "format"))
    return {name: value for name, value in body.items() if value is not None}


class _Function(msgspec.Struct):
    name: str
    arguments: JsonValue = None


class _Call(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Message(msgspec.Struct):
    content: JsonValue = None
    refusal: JsonValue = None
    reasoning_content: JsonValue = None
    reasoning: JsonValue = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: JsonValue = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]


def response_of(completion: JsonObject) -> JsonObject:
    """The first choice of a chat completion as a response of the Responses API. Raises `ConversionError`."""
    try:
        choices = msgspec.convert(completion, _Completion).choices
    except msgspec.ValidationError as error:
        raise ConversionError(f"it is not a chat completion: {error}") from None
    if not choices:
        raise ConversionError("it has no choices")
    finish = choices[0].finish_reason
    reason = _CUT_OFF.get(finish) if isinstance(finish, str) else None
    return {
        "id": completion.get("id") or f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": completion.get("created") or 0,
        "model": completion.get("model"),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [*_items(choices[0].message)],
        "usage": _usage(completion.get("usage")),
    }


def _messages(items: Iterable[JsonValue]) -> list[JsonValue]:
    messages: list[JsonValue] = []
    turn: JsonObject | None = None
    """The assistant message under construction."""
    for item in items:
        if not isinstance(item, dict):
            raise ConversionError(f"the input has {type(item).__name__} in place of a message")
        kind = item.get("type") or "message"
        if kind in ("reasoning", "function_call") or (kind, item.get("role")) == ("message", "assistant"):
            if turn is None or (kind == "reasoning" and turn.keys() & {"content", "tool_calls"}):
                turn = {"role": "assistant"}
                messages.append(turn)
            _add_to_turn(turn, kind, item)
            continue
        turn = None
        messages.append(_message(str(kind), item))
    for message in messages:
        if isinstance(message, dict) and message.get("role") == "assistant":
            message.setdefault("content", None if "tool_calls" in message else "")
    return messages


def _add_to_turn(turn: JsonObject, kind: JsonValue, item: JsonObject) -> None:
    if kind == "function_call":
        calls = turn.setdefault("tool_calls", [])
        assert isinstance(calls, list)
        function: JsonObject = {"name": item.get("name"), "arguments": item.get("arguments")}
        calls.append({"id": item.get("call_id"), "type": "function", "function": function})
        return
    field = "content" if kind == "message" else "reasoning_content"
    text = _text_in(item.get("content"))
    if kind == "reasoning":
        text = text or _text_in(item.get("summary"))
    if text or kind == "message":
        turn[field] = f"{turn.get(field) or ''}{text}"


def _message(kind: str, item: JsonObject) -> JsonObject:
    if kind == "function_call_output":
        output = item.get("output")
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": _text_in(output)}
    if kind != "message":
        raise ConversionError(f"Chat Completions can't express an item of type {kind!r}: give --api responses")
    content = item.get("content")
    if isinstance(content, list):
        parts = [_part(part) for part in content]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        content = "".join(map(str, texts)) if len(texts) == len(parts) else list(parts)
    message: JsonObject = {"role": item.get("role"), "content": content}
    return message if "name" not in item else message | {"name": item["name"]}


def _part(part: JsonValue) -> JsonObject:
    """A part of a user's message."""
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    if isinstance(part, dict) and kind == "input_image" and part.get("image_url"):
        url = part["image_url"]
        image = dict(url) if isinstance(url, dict) else {"url": url}
        return {"type": "image_url", "image_url": image | ({"detail": part["detail"]} if part.get("detail") else {})}
    raise ConversionError(f"Chat Completions can't express a part of type {kind!r}: give --api responses")


def _text_in(content: JsonValue) -> str:
    """The text of a message's content, a tool's output or a refusal."""
    if isinstance(content, str):
        return content
    found = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict):
            said = part.get("text") or part.get("refusal")
            found.append(said if isinstance(said, str) else "")
    return "".join(found)


def _tools(params: JsonObject) -> JsonObject:
    given = params.get("tools")
    if not isinstance(given, list) or not given:
        return {}
    tools: list[JsonValue] = []
    for tool in given:
        if not isinstance(tool, dict) or tool.get("type") != "function":
            kind = within(tool, "type")
            raise ConversionError(f"Chat Completions can't express a tool of type {kind!r}: give --api responses")
        function: JsonObject = {name: value for name, value in tool.items() if name != "type" and value is not None}
        tools.append({"type": "function", "function": function})
    choice = params.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "function":
        choice = {"type": "function", "function": {"name": choice.get("name")}}
    return {"tools": tools, "tool_choice": choice, "parallel_tool_calls": params.get("parallel_tool_calls")}


def _response_format(given: JsonValue) -> JsonValue:
    kind = within(given, "type")
    if not isinstance(given, dict) or kind in (None, "text"):
        return None
    schema: JsonObject = {name: value for name, value in given.items() if name != "type" and value is not None}
    return {"type": kind, "json_schema": schema} if kind == "json_schema" else given


def _items(message: _Message) -> Iterable[JsonObject]:
    """One message as items; a message without content is still an answer, so it becomes an empty text."""
    thinking = message.reasoning_content or message.reasoning
    if isinstance(thinking, str) and thinking:
        summary: list[JsonValue] = [{"type": "summary_text", "text": thinking}]
        yield {"id": f"rs_{uuid.uuid4().hex}", "type": "reasoning", "summary": summary}
    calls = message.tool_calls or []
    text, refusal = _text_in(message.content), message.refusal
    parts: list[JsonValue] = []
    if text or not (calls or refusal):
        parts.append({"type": "output_text", "text": text, "annotations": []})
    if isinstance(refusal, str) and refusal:
        parts.append({"type": "refusal", "refusal": refusal})
    if parts:
        own: JsonObject = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant"}
        yield own | {"status": "completed", "content": parts}
    for call in calls:
        yield {
            "id": f"fc_{uuid.uuid4().hex}",
            "type": "function_call",
            "call_id": call.id or f"call_{uuid.uuid4().hex}",
            "name": call.function.name,
            "arguments": call.function.arguments or "",
            "status": "completed",
        }


def _usage(usage: JsonValue) -> JsonObject | None:
    asked, answered = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if asked is None and answered is None:
        return None
    asked, answered = asked or 0, answered or 0
    cached = _count(usage, "prompt_tokens_details", "cached_tokens") or 0
    thought = _count(usage, "completion_tokens_details", "reasoning_tokens") or 0
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": answered,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": _count(usage, "total_tokens") or asked + answered,
    }


def _count(usage: JsonValue, *names: str) -> int | None:
    value = within(usage, *names)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
