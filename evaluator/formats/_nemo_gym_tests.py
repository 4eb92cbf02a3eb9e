"""Reads what decides a NeMo Gym task: unit tests, an answer, or the fields of a native row in `verifier_metadata`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from evaluator.formats import fields as field
from evaluator.formats._code_fields import mode_of_test
from evaluator.formats._compression import inflated
from evaluator.formats.fields import Fields
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.import_headers import LIVECODEBENCH
from evaluator.model import JsonValue, Mode, RecordError

NATIVE_FIELDS = frozenset({
    "mode", "entry_point", "in_outs", "test", "answer", "preamble", "reference", "checker", "grader", "exit_code",
    "weights", "limits", "source", "licence",
})  # fmt: skip
"""What a native row has beside its id and its prompt."""

_ANSWERS = ("answer", "expected_answer", "reference_answer")
_UNIT_TESTS = "verifier_metadata.unit_tests"
_SHAPE = 'give {"inputs": [...], "outputs": [...]}, with "fn_name" where a function is called'
_FILE = re.compile(r"\.py\s*:")

Row = dict[str, JsonValue]


def has_tests(fields: Fields) -> bool:
    """Whether something in the row decides what is right; it may still be wrong in itself."""
    metadata = fields.get("verifier_metadata")
    if isinstance(metadata, str):
        return "unit_tests" in metadata
    return isinstance(metadata, Mapping) and any(metadata.get(name) for name in ("unit_tests", "in_outs", "test"))


def metadata_field(fields: Fields) -> str:
    """Where the row keeps what decides it: rows of questions (`query`) have it in `metadata`."""
    return "metadata" if fields.get("verifier_metadata") is None and "query" in fields else "verifier_metadata"


def metadata_of(fields: Fields) -> Mapping[str, JsonValue]:
    """That field's object, from an object or its JSON text; empty where there is none."""
    name = metadata_field(fields)
    value = field.unpacked(fields, name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RecordError(f'{name} is {type(value).__name__}: give an object, such as {{"unit_tests": ...}}')
    return value


def native_row(fields: Fields, metadata: Mapping[str, JsonValue]) -> Row:
    """The fields of a native row, without id and prompt. Raises `RecordError` where nothing decides the task."""
    row = {name: metadata[name] for name in NATIVE_FIELDS if metadata.get(name) is not None}
    if metadata.get("unit_tests") is not None:
        row["in_outs"] = _unit_tests(metadata)
        row.setdefault("preamble", LIVECODEBENCH)  # as its code_gen server has it
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
        raise RecordError(f"{_UNIT_TESTS} has no inputs and outputs: {_SHAPE}")
    inputs, outputs, function = tests["inputs"], tests["outputs"], tests.get("fn_name")
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise RecordError(f"{_UNIT_TESTS}: inputs and outputs must be lists")
    if len(inputs) != len(outputs):
        raise RecordError(
            f"{_UNIT_TESTS} has {len(inputs)} inputs but {len(outputs)} outputs: give one output an input"
        )
    if function is not None and not isinstance(function, str):
        raise RecordError(f"{_UNIT_TESTS}.fn_name is {type(function).__name__}, no text")
    return {"inputs": inputs, "outputs": outputs, "fn_name": function or None}


def _unpacked(packed: str) -> Mapping[str, JsonValue]:
    name, mend = f"{_UNIT_TESTS}.packed", "pack the JSON of inputs and outputs"
    try:
        value = decode_json(inflated(packed, name, mend))
    except JsonError as error:
        raise RecordError(f"{name} unpacks to text that is {error}: {mend}") from None
    if not isinstance(value, Mapping):
        raise RecordError(f"{name} unpacks to {type(value).__name__}, no object: {mend}")
    return value


def _answer_into(row: Row, fields: Fields, metadata: Mapping[str, JsonValue]) -> None:
    answer = next((value for value in _answers(fields, metadata) if value is not None), None)
    if answer is None:
        raise RecordError(
            f"{_UNIT_TESTS} is missing: {_SHAPE}, or an answer, or a native row's in_outs or test, in verifier_metadata"
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
    """A dataset that came from somewhere must not decide what is loaded here."""
    if grader is not None and _FILE.search(json.dumps(grader)):
        raise RecordError("grader names a file, which a row may not: name a grader, or give the file with --grader")
