"""Reads conversations as chat APIs, trainers and evaluation logs write them: lists of messages, in many dialects.

A message is `{role, content}`. The content is text, or parts, or null beside tool calls; a tool call is an object in
one of three shapes, or its JSON text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.model import JsonValue, RecordError, brief

Message = dict[str, JsonValue]

_KEPT = ("name", "tool_call_id", "reasoning_content", "reasoning", "thinking")
_EXAMPLE = '[{"role": "user", "content": "..."}]'


def messages_of(value: JsonValue, name: str, role: str) -> list[Message]:
    """The messages in a field: of a list, of one message, or of a text, which becomes a message of this role.

    Null has none. Each has `role` and `content` as text, and what else is said in it. Raises `RecordError`.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    if not isinstance(value, list):
        return [_message(value, name, role)]
    if len(value) == 1 and isinstance(value[0], str):
        return [{"role": role, "content": value[0]}]
    return [_message(item, name, role) for item in value]


def is_conversation(value: JsonValue) -> bool:
    """Whether it is a list of messages, perhaps empty."""
    return isinstance(value, list) and all(isinstance(item, Mapping) and "role" in item for item in value)


def prompt_text(messages: Sequence[Message]) -> str:
    """All contents that are not empty, joined by blank lines."""
    return "\n\n".join(message["content"] for message in messages if message["content"])


def text_of(value: JsonValue, name: str) -> str:
    """The text of a prompt, which is text, a message or a list of them; empty if it is null."""
    return value if isinstance(value, str) else prompt_text(messages_of(value, name, "user"))


def answer_text(messages: Sequence[Message]) -> str:
    """What the model said last: the text of its last message that has one; empty if none has."""
    said = [message["content"] for message in messages if message["role"] == "assistant" and message["content"]]
    return said[-1] if said else ""


def split_at_answer(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """The messages before the model's first, and the rest."""
    first = next((i for i, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    return list(messages[:first]), list(messages[first:])


def after_prompt(prompt: Sequence[Message], completion: Sequence[Message]) -> list[Message]:
    """The completion, without the prompt if it repeats it."""
    said = [(message["role"], message["content"]) for message in completion[: len(prompt)]]
    repeated = prompt and said == [(message["role"], message["content"]) for message in prompt]
    return list(completion[len(prompt) :] if repeated else completion)


def turns(prompt: Sequence[Message], completion: Sequence[Message]) -> dict[str, JsonValue]:
    """The whole conversation for a rollout's metadata; nothing where the completion is one plain text."""
    is_text_alone = len(completion) < 2 and all(message.keys() <= {"role", "content"} for message in completion)
    return {} if is_text_alone else {"messages": [*prompt, *completion]}


def content_text(content: JsonValue) -> str:
    """The text of a message's content. A part that is not text is named in brackets, such as `[image]`."""
    if isinstance(content, str) or content is None:
        return content or ""
    if not isinstance(content, list):
        return brief(content)
    return "".join(_part(part) for part in content)


def texts_in(content: JsonValue) -> Iterator[str]:
    """The texts alone of a message's content, which is one text or a list of parts."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and isinstance(part.get("text"), str):
            yield part["text"]


def _message(value: JsonValue, name: str, role: str) -> Message:
    own = value.get("role", role if "content" in value else None) if isinstance(value, Mapping) else None
    if not isinstance(own, str):
        raise RecordError(f"{name} must be text or a list of messages such as {_EXAMPLE}, not {brief(value)}")
    content = value.get("content")
    message: Message = {"role": own, "content": content_text(content)}
    message |= {key: value[key] for key in _KEPT if isinstance(value.get(key), str) and value[key]}
    if isinstance(value.get("function"), str):  # the tool that answers
        message.setdefault("name", value["function"])
    error = value.get("error")
    if isinstance(error, Mapping) and not message["content"]:
        message["content"] = f"{error.get('type')}: {error.get('message')}"
    thought = _thought(content)
    if thought:
        message.setdefault("reasoning_content", thought)
    calls = value.get("tool_calls")
    if isinstance(calls, list) and calls:
        message["tool_calls"] = [_call(call) for call in calls]
    return message


def _part(part: JsonValue) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = part.get("type")
    if kind in ("reasoning", "thinking") or not isinstance(kind, str):
        return ""
    return f"[{kind.removesuffix('_url')}]"


def _thought(content: JsonValue) -> str:
    parts = content if isinstance(content, list) else ()
    found = (part.get("reasoning") or part.get("thinking") for part in parts if isinstance(part, Mapping))
    return "\n\n".join(text for text in found if isinstance(text, str))


def _call(call: JsonValue) -> Message:
    """As chat APIs have it: `{function: {name, arguments}}`."""
    if isinstance(call, str):
        try:
            call = decode_json(call)
        except JsonError:
            return {"function": {"name": "?", "arguments": call}}
    if not isinstance(call, Mapping):
        return {"function": {"name": "?", "arguments": brief(call)}}
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    name = function if isinstance(function, str) else inner.get("name")
    return {"function": {"name": name if isinstance(name, str) else "?", "arguments": inner.get("arguments")}}
