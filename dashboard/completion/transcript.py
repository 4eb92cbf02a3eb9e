"""What the model was asked, and what it did: messages, reasoning, tool calls with their results, the completion.

All of it comes from a file, a model or a tool: it is shown as text, never as markup.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from dashboard import escape
from dashboard.completion import chat_templates
from dashboard.completion.chat_templates import Part, call, parts
from dashboard.queries.records import RolloutRecord, TaskRecord
from evaluator.tasks import long_numbers

_MAX_LABEL = 80
_MESSAGES = ("messages", "prompt")
"""Fields of the metadata that may hold the messages of a chat."""
_REASONING = ("reasoning", "reasoning_content", "thinking")
_COUNTS = {
    "input": ("input_tokens", "prompt_tokens"),
    "output": ("output_tokens", "completion_tokens"),
    "total": ("total_tokens", "num_tokens", "tokens"),
}
"""The number of tokens, by the names that APIs and trainers give it."""


class Turn(NamedTuple):
    """One turn: who did what, and its texts; `omitted` counts the characters left out of it."""

    role: str
    label: str
    parts: list[Part]
    omitted: int = 0


class Item(msgspec.Struct, frozen=True):
    """One item of the conversation that a reader of rollouts kept."""

    type: str
    role: str | None = None
    name: str | None = None
    text: str | None = None
    arguments: str | None = None
    output: str | None = None
    omitted: int = 0


class _Metadata(msgspec.Struct, frozen=True):
    conversation: list[Item] = []


def fields(metadata: str | None) -> dict[str, Any]:
    """The metadata as an object; empty where there is none."""
    try:
        found = long_numbers.loads(metadata or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def items(metadata: str | None) -> list[Item]:
    """The conversation in a rollout's metadata; none for a single message, or where the name means something else."""
    try:
        return msgspec.convert(fields(metadata), _Metadata).conversation
    except msgspec.ValidationError:
        return []


def turns(rollout: RolloutRecord, task: TaskRecord | None) -> list[Turn]:
    """Every turn that the run has, the completion last."""
    found, kept = fields(rollout.metadata), items(rollout.metadata)
    sent = next((made for name in _MESSAGES if (made := _chat(found.get(name)))), [])
    own = found.get("prompt")
    if not sent and (prompt := (task and task.prompt) or (own if isinstance(own, str) else "")):
        sent = _split(prompt, "user", "the task's prompt")
    thoughts = (found[name] for name in _REASONING if isinstance(found.get(name), str))
    thought = [Turn("assistant", "reasoning", [Part("thinking", "reasoning", text)]) for text in thoughts]
    made, said = [*sent, *thought, *map(_turn, kept)], _split(rollout.completion, "assistant", "completion")
    is_last = bool(made) and [turn.parts for turn in said] == [made[-1].parts]
    return made if is_last else [*made, *said]


def _split(text: str, role: str, origin: str) -> list[Turn]:
    """The turns of a text in a chat template; one turn of this role where it has none."""
    found = chat_templates.split(text)
    return [Turn(who or role, f"{_line(who or role)} · {origin}", parts(said)) for who, said in found]


def tokens(metadata: str | None) -> list[tuple[str, str]]:
    """(name, number) of each count of tokens in the metadata."""
    found = fields(metadata)
    usage = found["usage"] if isinstance(found.get("usage"), dict) else {}
    counts = {
        name: next((n for key in keys for n in (usage.get(key), found.get(key)) if type(n) is int), None)
        for name, keys in _COUNTS.items()
    }
    return [(f"{name} tokens", f"{count:,}") for name, count in counts.items() if count is not None]


def _turn(item: Item) -> Turn:
    is_output, is_thought = item.output is not None, item.type == "reasoning"
    text = [Part("thinking", "reasoning", item.text or "")] if is_thought else parts(item.text or "")
    called = list(call(item.arguments)) if item.arguments else []
    output = [Part("output", "output", item.output or "")]
    who = " ".join(_line(text or "") for text in (item.role, item.type)).strip()
    role = item.role or ("tool" if is_output else "assistant")
    found = [part for part in [*text, *called, *output] if part.text]
    return Turn(role, f"{who}: {_line(item.name)}" if item.name else who, found, item.omitted)


def _chat(messages: object) -> list[Turn]:
    """The turns of a list of messages in the form of a chat API; none if it is something else."""
    if not isinstance(messages, list) or not all(
        isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages
    ):
        return []
    return [turn for message in messages for turn in _message(message)]


def _message(message: dict[str, Any]) -> list[Turn]:
    role, name = _line(message["role"]), message.get("name")
    label = f"{role}: {_line(name)}" if isinstance(name, str) else role
    thought = [Part("thinking", "reasoning", message[key]) for key in _REASONING if isinstance(message.get(key), str)]
    content = message.get("content")
    text = content if isinstance(content, str) else "" if content is None else json.dumps(content, ensure_ascii=False)
    said = [Part("output", "result", text)] if role == "tool" else parts(text)
    found = [Turn(role, label, [part for part in [*thought, *said] if part.text])]
    calls = message.get("tool_calls")
    return found + [_call(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else found


def _call(made: dict[str, Any]) -> Turn:
    function = made["function"] if isinstance(made.get("function"), dict) else made
    label = f"tool call: {_line(str(function.get('name', '?')))}"
    return Turn("assistant", label, list(call(function.get("arguments"))))


def _line(text: str) -> str:
    text = " ".join(escape.text(text).split())
    return text if len(text) <= _MAX_LABEL else f"{text[: _MAX_LABEL - 1]}…"
