"""Text in which chat templates mark turns, thoughts and tool calls, taken apart: `<|im_start|>`, Llama 3 headers,
`[INST]`, `<｜User｜>` and their like. Only markers are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from evaluator.tasks import long_numbers

_START = re.compile(
    r"<\|im_start\|>(\w+)\n?|<\|start_header_id\|>(\w+)<\|end_header_id\|>\n*|<start_of_turn>(\w+)\n?"
    r"|<\|start\|>(\w+)[^<\n]{0,80}(?:<\|channel\|>\w+)?[^<\n]{0,80}<\|message\|>|<｜(System|User|Assistant)｜>"
    r"|<\|(system|user|assistant|observation)\|>\n?|(\[/?INST\]) ?"
)
_MARKS = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|begin_of_text|end_of_text|endoftext|end|return|call)\|>|</?s>|<(?:bos|eos|end_of_turn)>"
    r"|<｜(?:begin|end)▁of▁sentence｜>"
)
_BEGINS = ("<｜begin▁of▁sentence｜>", "<|begin_of_text|>", "<s>", "<bos>")
_ROLES = {"[INST]": "user", "[/INST]": "assistant", "model": "assistant", "observation": "tool", "ipython": "tool"}
_INSIDE = re.compile(
    r"<(think|thinking|tool_call|tool_response)>(.*?)(?:</\1>|\Z)|\A((?:(?!<think).)*?)</think>", re.DOTALL
)
_KINDS: dict[str, Literal["thinking", "call", "output"]] = {"tool_call": "call", "tool_response": "output"}


class Part(NamedTuple):
    """A piece of a turn: what it is, its caption, and its text."""

    kind: Literal["text", "thinking", "call", "output"]
    name: str
    text: str


def split(text: str) -> list[tuple[str, str]]:
    """(role, text) of each turn; the role of what is before the first marker is "", or system at a text's beginning."""
    found, at, role = [], 0, "system" if text.lstrip().startswith(_BEGINS) else ""
    for mark in _START.finditer(text):
        found.append((role, text[at : mark.start()]))
        word = next(filter(None, mark.groups()))
        at, role = mark.end(), _ROLES.get(word, word.lower())
    found.append((role, text[at:]))
    if len(found) == 1:
        return [("", text)]
    kept = [(role, _MARKS.sub("", part).strip("\n")) for role, part in found]
    return [each for each in kept if each[1]] or [("", text)]


def parts(text: str) -> list[Part]:
    """The thoughts, tool calls, results and the text between them, in their order."""
    found, at = list[Part](), 0
    for mark in _INSIDE.finditer(text):
        found.append(Part("text", "", text[at : mark.start()].strip("\n")))
        at, kind = mark.end(), _KINDS.get(mark[1] or "", "thinking")
        inner = (mark[3] if mark[1] is None else mark[2]).strip("\n")
        found += call(inner) if kind == "call" else [Part(kind, "result" if kind == "output" else kind, inner)]
    found.append(Part("text", "", text[at:].strip("\n") if at else text))
    return [part for part in found if part.text.strip()]


def call(arguments: Any) -> Iterator[Part]:
    """A part for each argument of a tool call, given as an object or its JSON, a text as it is."""
    try:
        value = long_numbers.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        value = arguments
    if isinstance(value, dict) and isinstance(value.get("name"), str) and "arguments" in value:
        yield Part("text", "calls", value["name"])
        yield from call(value["arguments"])
    elif isinstance(value, dict):
        for name, given in value.items():
            yield Part("call", str(name), given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))
    else:
        yield Part("call", "arguments", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
