"""Contest problems, decided by inputs and outputs: APPS and TACO, CodeContests and CodeContests+, LiveCodeBench.

The preamble of a task is the header of imports that its graders put before every completion. LiveCodeBench packs its
private test cases as base64 of zlib of a pickle of one string. Nothing is ever unpickled: that string is read out of
the pickle's instructions, and any other pickle is refused.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.compression import UnpackedField, all_of, unpacked_json
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, Tasks, any_of, claims, taken
from evaluator.model import JsonValue, Kind, RecordError, Verdict
from evaluator.recorded import verdict_of_code
from evaluator.tasks.import_headers import CONTEST, LIVECODEBENCH

_TESTS = ("public_tests", "private_tests", "generated_tests")
_PYTHON_3 = (3, "3", "PYTHON3", "python3")
"""As the number of the enumeration, or its name."""
_CASES = ("public_test_cases", "private_test_cases")
_LISTS = ("output_list", "code_list", "graded_list")
_OF_QUESTION = ("question_title", "platform", "contest_id", "contest_date", "difficulty")
_NOT_LOADED = "Error during testing"
"""How the message of its -4 begins if the program did not even load."""
_FIX = (
    "convert the file once, in a process whose input you trust, so that private_test_cases is a JSON list of "
    "{input, output, testtype}"
)


def _question(fields: Fields, name: str = "question") -> str:
    parts = (field.text(fields, name), field.text(fields, "starter_code"))
    return "\n\n".join(part for part in parts if part)


def _apps_id(fields: Fields) -> JsonValue:
    own = taken(fields, "task_id|problem_id|id")
    return field.id_from_prompt(field.text(fields, "question")) if own is None else own


def _first_solution(fields: Fields) -> str | None:
    solutions = field.unpacked(fields, "solutions")
    first = solutions[0] if isinstance(solutions, list) and solutions else None
    return first if isinstance(first, str) else None


APPS = Format(
    name="apps",
    title="APPS: question, input_output, solutions",
    tasks=Tasks(
        claim=claims(
            "3: input_output, question, solutions+problem_id+starter_code, !question_content; "
            "3: input_output, question, !question_content"
        ),
        task_id=_apps_id,
        prompt=_question,
        in_outs=lambda fields: field.optional_object(fields, "input_output", field.IN_OUTS) or {},
        preamble=CONTEST,
        reference=_first_solution,
        time_limit="time_limit",
        memory_limit="memory_limit",
        source=lambda fields: field.text(fields, "source") or "APPS",
        left_out="task_id, problem_id, id, question, input_output, solutions, starter_code",
    ),
)


def _tests(fields: Fields, name: str) -> tuple[list[str], list[str]]:
    tests = field.optional_object(fields, name, '{"input": [...], "output": [...]}') or {}
    inputs, outputs = field.strings(tests, "input"), field.strings(tests, "output")
    if len(inputs) != len(outputs):
        raise RecordError(f"{name} has {len(inputs)} inputs but {len(outputs)} outputs: give one output per input")
    return inputs, outputs


def _all_tests(fields: Fields) -> dict[str, JsonValue]:
    """The test cases of all three kinds, in this order."""
    pairs = [_tests(fields, name) for name in _TESTS]
    return {
        "inputs": [text for pair in pairs for text in pair[0]],
        "outputs": [text for pair in pairs for text in pair[1]],
    }


def _first_in_python(solutions: Fields) -> str | None:
    languages, texts = solutions.get("language"), solutions.get("solution")
    if not isinstance(languages, list) or not isinstance(texts, list):
        return None
    pairs = zip(languages, texts, strict=False)
    return next((text for language, text in pairs if language in _PYTHON_3 and isinstance(text, str)), None)


def _memory_limit(fields: Fields) -> str | None:
    size = fields.get("memory_limit_bytes")
    return f"{size} bytes" if size else None


CODE_CONTESTS = Format(
    name="code_contests",
    title="CodeContests: name, description, public_tests, private_tests, generated_tests, solutions",
    tasks=Tasks(
        claim=claims("3: name, description, public_tests+private_tests+generated_tests"),
        task_id="task_id|name",
        prompt="description",
        in_outs=_all_tests,
        preamble=CONTEST,
        reference=lambda fields: _first_in_python(field.inner(fields, "solutions")),
        time_limit="time_limit",
        memory_limit=_memory_limit,
        source="CodeContests",
        left_out="solutions, incorrect_solutions, public_tests, private_tests, generated_tests, memory_limit_bytes",
        metadata=lambda fields: {"test_counts": {name: len(_tests(fields, name)[0]) for name in _TESTS}},
    ),
)


def _milliseconds(fields: Fields) -> JsonValue:
    limit = field.number(fields.get("time_limit"))
    return None if limit is None else limit / 1000


def _first_right(fields: Fields) -> str | None:
    submissions = fields.get("correct_submissions")
    rows = (each for each in submissions if isinstance(each, dict)) if isinstance(submissions, list) else ()
    found = next((row for row in rows if row.get("language") in (*_PYTHON_3, "py3", "python")), None)
    return field.text(found, "code") or None if found else None


CODE_CONTESTS_PLUS = Format(
    name="code_contests_plus",
    title="CodeContests+: id, description, test_cases, checker, correct_submissions",
    tasks=Tasks(
        claim=claims("3: id, description, test_cases, checker+generator+validator+correct_submissions"),
        task_id="task_id|id",
        prompt=lambda fields: "\n\n".join(
            filter(None, (field.text(fields, "title"), field.text(fields, "description")))
        ),
        in_outs=lambda fields: field.in_outs(*field.cases(fields, "test_cases")),
        checker_code="checker",
        time_limit=_milliseconds,
        memory_limit="memory_limit",
        preamble=CONTEST,
        reference=_first_right,
        source="CodeContests+",
        left_out=(
            "title, description, test_cases, checker, validator, generator, generator_cmd, correct_submissions, "
            "incorrect_submissions, time_limit"
        ),
    ),
)


def _lcb_tests(fields: Fields) -> dict[str, JsonValue]:
    """Of mode call if a function is named (`func_name`, `fn_name`)."""
    in_outs = field.optional_object(fields, "input_output", field.IN_OUTS)
    if not in_outs:
        in_outs = field.in_outs(*(case for name in _CASES for case in _test_cases(fields, name)))
    return {**in_outs, "fn_name": in_outs.get("fn_name") or _details(fields).get("func_name")}


def _details(fields: Fields) -> Fields:
    return field.inner({"metadata": field.unpacked(fields, "metadata")}, "metadata")


def _test_cases(fields: Fields, name: str) -> list[Fields]:
    value = fields.get(name)
    if isinstance(value, str) and value.strip() and value.lstrip()[0] not in "[{":
        value = unpacked_json(value, name, _FIX, _only_text)
    return field.cases({name: value}, name)


def _only_text(pickled: UnpackedField) -> bytearray | str:
    """The string in a pickle that holds one string and nothing else; runs no instruction. JSON is returned as it is."""
    if not pickled.peek(1).startswith(b"\x80"):
        return all_of(pickled)
    text: str | None = None
    try:
        for operation, argument, _ in pickletools.genops(pickled):
            if operation.name in ("BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE", "UNICODE") and text is None:
                text = argument
            elif operation.name not in ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "PUT", "STOP"):
                raise ValueError
    except (ValueError, UnicodeError, EOFError):
        text = None
    if text is None:
        raise RecordError(f"the tests are a pickle of more than one string, which is never loaded: {_FIX}")
    return text


def _lcb_samples(fields: Fields) -> Iterator[Fields | RecordError]:
    """Every sample of one question, in the order of its lists. What the model wrote counts, else the extracted code."""
    if _is_metrics(fields) or (fields and all(name.isdecimal() for name in fields)):
        raise RecordError("has metrics and no code: open the file beside it whose name ends in _eval_all.json")
    lists = {name: fields.get(name) or [] for name in (*_LISTS, "metadata")}
    for name in _LISTS:
        if not isinstance(lists[name], list):
            raise RecordError(f"{name} must be a list, not {type(lists[name]).__name__}")
    outputs, codes, graded, accounts = lists.values()
    question = {name: fields[name] for name in ("question_id", "model", *_OF_QUESTION) if name in fields}
    for index, text in enumerate(outputs or codes):
        if not isinstance(text, str):
            name = "output_list" if outputs else "code_list"
            yield RecordError(f"{name}[{index}] must be text, not {type(text).__name__}")
            continue
        own: dict[str, JsonValue] = {"completion": text, "sample_index": index, "kind": None if outputs else Kind.FULL}
        if outputs and index < len(codes) and isinstance(codes[index], str) and codes[index] not in text:
            own["extracted_code"] = codes[index]
        if isinstance(accounts, list) and index < len(accounts):
            own["metadata"] = _account(accounts[index])
        yield {**question, **own, "graded": graded[index] if index < len(graded) else None}


def _account(value: JsonValue) -> JsonValue:
    """The source's account of one sample, which it writes as JSON text."""
    try:
        return decode_json(value) if isinstance(value, str) else value
    except JsonError:
        return value


def _lcb_grade(sample: Fields) -> Recorded | None:
    passed, details = sample["graded"], field.inner(sample, "metadata")
    if not isinstance(passed, bool):
        return None
    message = details.get("error_message")
    word = message if isinstance(message, str) and message and not passed else str(passed).lower()
    verdict = Verdict.PASSED if passed else verdict_of_code(details.get("error_code", False)) or Verdict.WRONG_ANSWER
    if verdict is Verdict.RUNTIME_ERROR and word.startswith(_NOT_LOADED):
        verdict = Verdict.COMPILE_ERROR
    return Recorded(verdict, word)


def _is_metrics(fields: Fields) -> bool:
    """Whether it is the first element of `_eval.json`, a list of metrics, results by number and metadata."""
    return "pass@1" in fields and isinstance(fields.get("detail"), dict)


_NO_SAMPLES = "!output_list, !code_list, !entry_point"
LIVECODEBENCH_FORMAT = Format(
    name="livecodebench",
    title="LiveCodeBench: question_content with test cases; output_list, code_list",
    tasks=Tasks(
        claim=claims(
            f"3: question_content, public_test_cases+private_test_cases+input_output, {_NO_SAMPLES}; "
            f"3: question_id, public_test_cases, private_test_cases, {_NO_SAMPLES}; "
            f"3: question_id, input_output, {_NO_SAMPLES}"
        ),
        task_id="question_id",
        prompt=lambda fields: _question(fields, "question_content"),
        in_outs=_lcb_tests,
        preamble=LIVECODEBENCH,
        source="LiveCodeBench",
        left_out=("question_content, starter_code, metadata, input_output, public_test_cases, private_test_cases"),
        metadata=_details,
    ),
    rollouts=Rollouts(
        claim=any_of(
            claims("3: pass@1, detail:object, (the metrics of a run without its code)"),
            claims("3: question_id, output_list+code_list+graded_list"),
        ),
        each=_lcb_samples,
        prompt=lambda fields: _question(fields, "question_content"),
        task_id="question_id",
        kind=lambda sample: sample["kind"],
        passed=lambda sample: sample["graded"] if isinstance(sample["graded"], bool) else None,
        grade=_lcb_grade,
        by="LiveCodeBench",
        left_out="kind, graded",
    ),
)

read_apps, read_livecodebench = APPS.tasks.read, LIVECODEBENCH_FORMAT.tasks.read
