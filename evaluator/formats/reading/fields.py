"""Reads single fields of a row of any format: typed, or `RecordError` with the field and the fix."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping

from evaluator.formats.reading.chat import answer_text, messages_of, turns
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.model import JsonValue, RecordError, brief
from evaluator.tasks.long_numbers import digits_of
from evaluator.tasks.parts import MADE_ID

Fields = Mapping[str, JsonValue]

ROLLOUT_FIELDS = {
    "task_id", "completion", "sample_id", "sample_index", "kind", "model", "group", "step", "expected_pass",
    "given_reward", "recorded_reward", "reward", "recorded_verdict", "recorded_word", "recorded_by",
}  # fmt: skip
"""Of a native row."""
METADATA_JSON = "metadata_json"
"""Metadata of any shape and name, as an object or its JSON text; beside it, null means that there is no value."""

IN_OUTS = '{"inputs": [...], "outputs": [...]}'
"""What test cases look like, for messages."""
_WHOLE = range(-(2**63), 2**63)
"""What a column of a run can hold."""


_NUMBER = re.compile(r"-?(?:\d{1,4000}(?:\.\d*)?(?:[eE][+-]?\d{1,9})?|nan|inf)")
_LANGUAGE_FIELDS = ("language", "lang", "programming_language")
_OTHERS = {
    "java", "javascript", "js", "typescript", "ts", "node", "nodejs", "c", "c++", "cpp", "cxx", "c#", "cs", "csharp",
    "go", "golang", "rust", "rs", "ruby", "rb", "php", "perl", "pl", "r", "scala", "kotlin", "kt", "swift", "haskell",
    "hs", "lua", "julia", "jl", "d", "racket", "rkt", "bash", "sh", "shell", "sql", "dart", "elixir", "ocaml",
    "clojure", "erlang", "fortran", "pascal", "objective-c", "matlab", "lean", "coq", "verilog", "html", "css",
}  # fmt: skip
_IDS_OF_OTHERS = ("Java/", "CPP/", "Go/", "JavaScript/", "Rust/")
"""Of HumanEval-X, whose rows do not name their language."""


def without(fields: Fields, names: Container[str]) -> dict[str, JsonValue]:
    """The row without these fields."""
    return {name: value for name, value in fields.items() if name not in names}


def identifier(fields: Fields, name: str) -> str:
    """A field that identifies something: text or a whole number, as text."""
    value = fields.get(name)
    if value is None or value == "":
        raise RecordError(f"{name} is missing: add text that is unique to the task")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordError(f"{name} must be text or a whole number, not {brief(value)}")
    return value if isinstance(value, str) else digits_of(value)


def optional_identifier(fields: Fields, name: str) -> str | None:
    return None if fields.get(name) in (None, "") else identifier(fields, name)


def first(fields: Fields, names: Iterable[str]) -> str | None:
    """The first of these fields that the row has."""
    return next((name for name in names if fields.get(name) is not None), None)


def inner(fields: Fields, name: str) -> Fields:
    """A field that is an object; empty if it is anything else."""
    value = fields.get(name)
    return value if isinstance(value, Mapping) else {}


def text(fields: Fields, name: str) -> str:
    """A text field; "" if it is null or missing."""
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"{name} must be text, not {type(value).__name__}")
    return value


def strings(fields: Fields, name: str) -> list[str]:
    """A list of strings; empty if it is null or missing."""
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise RecordError(f"{name} must be a list of strings")
    return value


def cases(fields: Fields, name: str) -> list[Fields]:
    """A list of test cases whose `input` and `output` are texts, or its JSON text; empty if it is null or missing."""
    value = unpacked(fields, name) or []
    if not isinstance(value, list):
        raise RecordError(f"{name} must be a list of {{input, output}}, not {brief(value)}")
    for place, case in enumerate(value):
        if not isinstance(case, dict) or not all(isinstance(case.get(part), str) for part in ("input", "output")):
            raise RecordError(f"{name}[{place}] must have an input and an output that are text")
    return value


def in_outs(*cases: Fields) -> dict[str, JsonValue]:
    """Test cases in the native form."""
    return {"inputs": [case["input"] for case in cases], "outputs": [case["output"] for case in cases]}


def preamble(fields: Fields, header: str) -> str:
    """The row's own `preamble` ("" for none), else the header that the format's graders use."""
    return header if fields.get("preamble") is None else text(fields, "preamble")


def optional_whole(fields: Fields, name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    whole = number_in(value)
    whole = int(whole) if isinstance(whole, float) and whole.is_integer() else whole
    if isinstance(whole, bool) or not isinstance(whole, int):
        raise RecordError(f"{name} must be a whole number or null, not {brief(value)}")
    if whole not in _WHOLE:
        raise RecordError(f"{name} must be a whole number from -2^63 to 2^63 - 1 or null, not {brief(value)}")
    return whole


def optional_number(fields: Fields, name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    number = number_in(value)
    if not isinstance(number, int | float):
        raise RecordError(f"{name} must be a number or null, not {brief(value)}")
    try:
        return float(number)
    except OverflowError:
        raise RecordError(f"{name} must be at most 1.8e308 or null, not {brief(value)}") from None


def number_in(value: JsonValue) -> JsonValue:
    """The number in a text, as cells of CSV have it; anything else as it is."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return value
    return float(value) if {*value} & {*".eEn"} else int(value)


def optional_truth(fields: Fields, name: str) -> bool | None:
    value = fields.get(name)
    if value is None or isinstance(value, bool):
        return value
    if value in ("true", "True", "false", "False"):
        return value in ("true", "True")
    raise RecordError(f"{name} must be true, false or null, not {brief(value)}")


def unpacked(fields: Fields, name: str) -> JsonValue:
    """A field that holds JSON, or JSON as text (both are common); None if it is null, "" or missing."""
    value = fields.get(name)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return decode_json(value)
    except JsonError as error:
        raise RecordError(f"{name} is text that is {error}") from None


def optional_object(fields: Fields, name: str, example: str) -> Mapping[str, JsonValue] | None:
    """A field that holds an object, or its JSON text; None as in `unpacked`. A message shows the `example`."""
    value = unpacked(fields, name)
    if value is not None and not isinstance(value, Mapping):
        raise RecordError(f"{name} must be an object, for example {example}")
    return value


def completion(fields: Fields, name: str) -> tuple[str, dict[str, JsonValue]]:
    """The text of a completion that is text or messages, and for the metadata what else was said.

    The text is the model's last one. What else was said is `messages` if they begin with the prompt, else the
    `conversation` after it. Raises `RecordError`.
    """
    value = fields[name]
    if isinstance(value, str):
        return value, {}
    said = messages_of(value, name, "assistant")
    if not said:
        raise RecordError(f"{name} must be text or a list of messages whose content is text")
    last = answer_text(said) or next((message["content"] for message in reversed(said) if message["content"]), "")
    kept = turns((), said)
    if not kept or (said[0]["role"] in ("system", "developer", "user") and "messages" not in fields):
        return last, kept
    return last, {"conversation": [item for message in said for item in _items(message)]}


def _items(message: Mapping[str, JsonValue]) -> Iterator[dict[str, JsonValue]]:
    """A message as items of a conversation, which is what the page shows after the prompt."""
    thought = next((message[key] for key in ("reasoning_content", "reasoning", "thinking") if message.get(key)), None)
    if thought:
        yield {"type": "reasoning", "text": thought}
    if message["role"] == "tool":
        name = {"name": message["name"]} if "name" in message else {}
        yield {"type": "function_call_output", **name, "output": message["content"]}
    elif message["content"]:
        yield {"type": "message", "role": message["role"], "text": message["content"]}
    for call in message.get("tool_calls") or ():
        arguments = call["function"]["arguments"]
        arguments = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        yield {"type": "function_call", "name": call["function"]["name"], "arguments": arguments}


def refuse_others(fields: Fields) -> None:
    """Raises `RecordError` if the row names a language that is not graded here."""
    task_id = fields.get("task_id")
    if isinstance(task_id, str) and task_id.startswith(_IDS_OF_OTHERS):
        raise RecordError(f"task_id is {brief(task_id)}, not Python: it can't be graded here")
    for name in _LANGUAGE_FIELDS:
        if name not in fields:
            continue
        value = fields[name]
        if isinstance(value, str) and value.strip().lower() in _OTHERS:
            raise RecordError(f"{name} is {value.strip()!r}, not Python: it can't be graded here")


def id_from_prompt(prompt: str) -> str:
    """A task id for rows without one: rows with the same prompt are the same task."""
    return MADE_ID + hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


_MOST_NUMBERS = 64
"""A longer list of numbers is what a trainer computed (token ids, log probabilities, masks): it is left out."""
_GONE = object()


def kept(fields: Fields, taken: Container[str]) -> dict[str, JsonValue]:
    """The metadata of a rollout: the fields but those taken, empty ones, and long lists of numbers.

    `left_out` names the lists. A name that means something else in a native row gets `source_` before it.
    """
    left_out: list[str] = []
    found = {
        f"source_{name}" if name in ROLLOUT_FIELDS else name: _without_numbers(value, name, left_out)
        for name, value in fields.items()
        if name not in taken and value is not None
    }
    found = {name: value for name, value in found.items() if value is not _GONE}
    return {**found, "left_out": left_out} if left_out else found


def _without_numbers(value: JsonValue, name: str, left_out: list[str]) -> JsonValue:
    if _is_bulk(value):
        left_out.append(name)
        return _GONE
    if not isinstance(value, Mapping):
        return value
    inner = {key: _without_numbers(part, f"{name}.{key}", left_out) for key, part in value.items()}
    return {key: part for key, part in inner.items() if part is not _GONE}


def _is_bulk(value: JsonValue) -> bool:
    while isinstance(value, list) and value and isinstance(value[0], list):
        if len(value) > _MOST_NUMBERS and value[0] and isinstance(value[0][0], int | float):
            return True
        value = value[0]
    return isinstance(value, list) and len(value) > _MOST_NUMBERS and isinstance(value[0], int | float)


def number(value: JsonValue) -> float | None:
    """A number or a truth value as a number; None for anything else, and for NaN (no score)."""
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return None if math.isnan(found) else found
