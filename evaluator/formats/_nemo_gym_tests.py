"""Reads parts of NeMo Gym's rows: what grades a task, and the items of OpenAI's Responses API.

A task is graded by unit tests, an answer, or the fields of a native row in `verifier_metadata`. An item is `{type,
...}`; one without a type is a message. Unknown types are tolerated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from evaluator.formats import fields as field
from evaluator.formats._chat import texts_in
from evaluator.formats._code_rows import mode_of_test
from evaluator.formats.compression import unpacked_field
from evaluator.formats.fields import Fields
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.import_headers import LIVECODEBENCH
from evaluator.model import JsonValue, Mode, RecordError

NATIVE_FIELDS = frozenset({
    "mode", "entry_point", "in_outs", "test", "answer", "preamble", "reference", "checker", "grader", "exit_code",
    "weights", "limits", "source", "licence",
})  # fmt: skip
"""The fields of a native row other than its id and its prompt."""

_ANSWERS = ("answer", "expected_answer", "reference_answer")
_UNIT_TESTS = "verifier_metadata.unit_tests"
_EXAMPLE = '{"inputs": [...], "outputs": [...]}, with "fn_name" if the tests call a function'
_FILE = re.compile(r"\.py\s*:")

Row = dict[str, JsonValue]


def has_tests(fields: Fields) -> bool:
    """Whether the row has something to grade by, even if that turns out to be invalid."""
    metadata = fields.get("verifier_metadata")
    if isinstance(metadata, str):
        return "unit_tests" in metadata
    return isinstance(metadata, Mapping) and any(metadata.get(name) for name in ("unit_tests", "in_outs", "test"))


def metadata_field(fields: Fields) -> str:
    """The field that holds what grades the row: `metadata` in rows of questions (`query`)."""
    return "metadata" if fields.get("verifier_metadata") is None and "query" in fields else "verifier_metadata"


def metadata_of(fields: Fields) -> Mapping[str, JsonValue]:
    """That field's object, from an object or its JSON text; empty if there is none."""
    return field.optional_object(fields, metadata_field(fields), '{"unit_tests": {...}}') or {}


def native_row(fields: Fields, metadata: Mapping[str, JsonValue]) -> Row:
    """The fields of a native row, without id and prompt. Raises `RecordError` if there is nothing to grade by."""
    row = {name: metadata[name] for name in NATIVE_FIELDS if metadata.get(name) is not None}
    if metadata.get("unit_tests") is not None:
        row["in_outs"] = _unit_tests(metadata)
        row.setdefault("preamble", LIVECODEBENCH)  # as NeMo Gym's code_gen server does
    _require_no_file(row.get("grader"))
    if "in_outs" not in row and "test" not in row:
        _answer_into(row, fields, metadata)
    row.setdefault("mode", _mode(row))
    return row


def _unit_tests(metadata: Mapping[str, JsonValue]) -> Row:
    tests = field.unpacked(metadata, "unit_tests")
    if isinstance(tests, Mapping) and isinstance(tests.get("packed"), str):
        tests = {**_unpacked(tests["packed"]), "fn_name": tests.get("fn_name")}
    if not isinstance(tests, Mapping) or not {"inputs", "outputs"} <= tests.keys():
        raise RecordError(f"{_UNIT_TESTS} must have inputs and outputs, for example {_EXAMPLE}")
    inputs, outputs, function = tests["inputs"], tests["outputs"], tests.get("fn_name")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise RecordError(f"{_UNIT_TESTS}: inputs and outputs must be lists")
    if len(inputs) != len(outputs):
        raise RecordError(
            f"{_UNIT_TESTS} has {len(inputs)} inputs but {len(outputs)} outputs: give one output per input"
        )
    if function is not None and not isinstance(function, str):
        raise RecordError(f"{_UNIT_TESTS}.fn_name must be text, not {type(function).__name__}")
    return {"inputs": inputs, "outputs": outputs, "fn_name": function or None}


def _unpacked(packed: str) -> Mapping[str, JsonValue]:
    name, fix = f"{_UNIT_TESTS}.packed", "pack the JSON of inputs and outputs"
    try:
        value = decode_json(unpacked_field(packed, name, fix))
    except JsonError as error:
        raise RecordError(f"{name} unpacks to text that is {error}: {fix}") from None
    if not isinstance(value, Mapping):
        raise RecordError(f"{name} must unpack to an object, not {type(value).__name__}: {fix}")
    return value


def _answer_into(row: Row, fields: Fields, metadata: Mapping[str, JsonValue]) -> None:
    answer = next((value for value in _answers(fields, metadata) if value is not None), None)
    if answer is None:
        raise RecordError(
            f"{_UNIT_TESTS} is missing: add it to verifier_metadata as {_EXAMPLE}, "
            "or add an answer, or in_outs or test as in a native row"
        )
    row["answer"] = answer


def _answers(fields: Fields, metadata: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    for place in (metadata, fields):
        yield from (place.get(name) for name in _ANSWERS)


def _mode(row: Row) -> Mode:
    if "in_outs" not in row:
        test = row.get("test")
        return mode_of_test(test) if isinstance(test, str) else Mode.ANSWER
    in_outs = row["in_outs"]
    named = row.get("entry_point") or (isinstance(in_outs, Mapping) and in_outs.get("fn_name"))
    return Mode.CALL if named else Mode.STDIN


def _require_no_file(grader: JsonValue) -> None:
    """A dataset from elsewhere must not choose which code is loaded."""
    if grader is not None and _FILE.search(json.dumps(grader)):
        raise RecordError("grader must not be a file in a row: name a grader, or pass the file with --grader")


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
    return "".join(text for item in items_of(response) if is_answer(item) for text in texts_in(item.get("content")))


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
    said = "".join(texts_in(item.get("content")))
    parts = (item.get("name"), item.get("arguments"), said, _as_text(item.get("output")))
    return " ".join(part for part in parts if isinstance(part, str) and part)


def _shown(item: Mapping[str, JsonValue], longest: int) -> dict[str, JsonValue]:
    kind = item.get("type")
    shown: dict[str, JsonValue] = {"type": kind if isinstance(kind, str) and kind else "message"}
    for name in ("role", "name", "arguments", "output"):
        if item.get(name):
            shown[name] = _as_text(item[name])
    text = "".join([*texts_in(item.get("summary")), *texts_in(item.get("content")), *texts_in(item.get("text"))])
    if text:
        shown["text"] = text
    elif len(shown) == 1:
        shown["text"] = _rest(item)
    return _cut(shown, longest)


def _as_text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    texts = "".join(texts_in(value))
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
