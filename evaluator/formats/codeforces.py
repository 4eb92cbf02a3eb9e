"""open-r1's Codeforces problems: programs with the judges' tests, and a checker where several answers are right.

`examples` are in the prompt; only `official_tests` decide. `generated_tests` is the number of tests in other files.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Tasks, claims
from evaluator.model import JsonValue, RecordError, brief

_PARTS = ("Input", "input_format"), ("Output", "output_format"), ("Note", "note")


def _tests(fields: Fields) -> dict[str, JsonValue]:
    field.refuse_others(fields)
    if field.text(fields, "interaction_format"):
        raise RecordError("interaction_format is set: a problem that talks to the program can't be graded here")
    if fields.get("input_mode") not in (None, "", "stdio"):
        raise RecordError(f"input_mode is {brief(fields['input_mode'])}: only programs that read stdin are graded here")
    return field.in_outs(*field.cases(fields, "official_tests"))


def _parts(fields: Fields) -> Iterator[str]:
    yield from filter(None, (field.text(fields, "title"), field.text(fields, "description")))
    for heading, name in _PARTS[:2]:
        if text := field.text(fields, name):
            yield f"{heading}\n\n{text}"
    for number, example in enumerate(field.cases(fields, "examples"), 1):
        given, wanted = (example[name].replace("\r\n", "\n").rstrip() for name in ("input", "output"))
        yield f"Example {number}\n\nInput:\n{given}\n\nOutput:\n{wanted}"
    for heading, name in _PARTS[2:]:
        if text := field.text(fields, name):
            yield f"{heading}\n\n{text}"


FORMAT = Format(
    name="codeforces",
    title="open-r1's codeforces: id, description, official_tests, generated_checker",
    tasks=Tasks(
        claim=claims("3: id, official_tests, description|prompt"),
        task_id="id",
        prompt=lambda fields: fields.get("prompt") or "\n\n".join(_parts(fields)),
        in_outs=_tests,
        checker_code="generated_checker",
        time_limit="time_limit",
        memory_limit="memory_limit",
        source="Codeforces",
        left_out="prompt, title, description, input_format, output_format, note, examples, official_tests, language",
    ),
)
