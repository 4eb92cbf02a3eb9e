"""LiveCodeBench: tasks as in its release or as its grader takes them, and the files its runner writes.

Tasks: `question_id, question_content, starter_code, public_test_cases, private_test_cases, metadata`,
where the test cases are JSON (text) lists of `{input, output, testtype}`; or `input_output` as JSON of
`{inputs, outputs, fn_name}`. The release packs its private test cases as base64 of zlib of a pickle of
one string. Nothing is ever unpickled: that string is read out of the pickle's instructions, and any other
pickle is refused.

The preamble is the header of imports that its grader puts before every completion.

Rollouts: a JSON list of `question_id, output_list[], code_list[]`, with `graded_list[]` and `metadata[]` in graded
files (`_eval_all.json`). The raw output is graded; `code_list` (from their extraction) only if there is no output.
`metadata` has the first failure of each sample as JSON text: its `error_code` says which verdict it was.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator

from evaluator.formats import fields as field
from evaluator.formats._recorded import Recorded, record
from evaluator.formats.compression import unpacked_field
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.given_tests import About, cases_from, stdin_input
from evaluator.import_headers import LIVECODEBENCH
from evaluator.model import JsonValue, Kind, Mode, RecordError, Rollout, Task, TestCase, Verdict
from evaluator.recorded import verdict_of_code

_TAKEN = {
    "question_id", "question_content", "starter_code", "metadata",
    "public_test_cases", "private_test_cases", "input_output", "preamble",
}  # fmt: skip
_OF_QUESTION = ("question_title", "platform", "contest_id", "contest_date", "difficulty")
_NOT_LOADED = "Error during testing"
"""How the message of its -4 begins if the program did not even load."""
_FIX = (
    "convert the file once, in a process whose input you trust, so that private_test_cases is a JSON list of "
    "{input, output, testtype}"
)


def claim_task(fields: Fields) -> Claim | None:
    if "question_id" not in fields and "question_content" not in fields:
        return None
    if "output_list" in fields or "code_list" in fields or "entry_point" in fields:
        return None
    marks = [n for n in ("question_content", "public_test_cases", "private_test_cases", "input_output") if n in fields]
    return Claim(3, ", ".join(marks)) if len(marks) > 1 or "input_output" in marks else None


def claim_rollout(fields: Fields) -> Claim | None:
    if _is_metrics(fields):
        return Claim(3, "pass@1, detail: the metrics of a run, without its code")
    lists = [name for name in ("output_list", "code_list", "graded_list") if name in fields]
    return Claim(3, ", ".join(["question_id", *lists])) if "question_id" in fields and lists else None


def _is_metrics(fields: Fields) -> bool:
    """Whether it is the first element of `_eval.json`, a list of metrics, results by number and metadata."""
    return "pass@1" in fields and isinstance(fields.get("detail"), dict)


def read_task(fields: Fields) -> Task:
    """One task: mode call if it names a function (`func_name`, `fn_name`), else stdin."""
    metadata = field.unpacked(fields, "metadata")
    details = metadata if isinstance(metadata, dict) else {}
    in_outs = field.optional_object(fields, "input_output", field.IN_OUTS)
    function = (in_outs or {}).get("fn_name") or details.get("func_name")
    if function is not None and not isinstance(function, str):
        raise RecordError("the function's name (fn_name, func_name) must be text")
    mode = Mode.CALL if function else Mode.STDIN
    starter, question = field.text(fields, "starter_code"), field.text(fields, "question_content")
    about = About(function, prompt=f"{starter}\n{question}")
    cases = cases_from(in_outs, mode, about) if in_outs else tuple(_listed_cases(fields))
    return Task(
        task_id=field.identifier(fields, "question_id"),
        mode=mode,
        prompt=f"{question}\n\n{starter}" if starter else question,
        entry_point=function or None,
        cases=cases,
        preamble=field.preamble(fields, LIVECODEBENCH),
        source="LiveCodeBench",
        metadata={**field.without(fields, _TAKEN), **details},
    )


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """Every sample of one question, in the order of its lists."""
    if _is_metrics(fields) or (fields and all(name.isdecimal() for name in fields)):
        raise RecordError("has metrics and no code: open the file beside it whose name ends in _eval_all.json")
    outputs, codes = _list(fields, "output_list"), _list(fields, "code_list")
    graded = _list(fields, "graded_list")
    accounts = fields.get("metadata")
    task_id = field.identifier(fields, "question_id")
    question = {name: fields[name] for name in _OF_QUESTION if name in fields}
    for index, completion in enumerate(outputs or codes):
        if not isinstance(completion, str):
            name = "output_list" if outputs else "code_list"
            raise RecordError(f"{name}[{index}] must be text, not {type(completion).__name__}")
        grade = graded[index] if index < len(graded) else None
        account = _account(accounts[index]) if isinstance(accounts, list) and index < len(accounts) else None
        code = codes[index] if outputs and index < len(codes) else None
        rollout = Rollout(
            task_id=task_id,
            completion=completion,
            sample_index=index,
            kind=None if outputs else Kind.FULL,
            model=field.optional_identifier(fields, "model"),
            expected_pass=grade if isinstance(grade, bool) else None,
            metadata=question | ({"metadata": account} if account is not None else {}),
        )
        if isinstance(code, str) and code not in completion:
            rollout.metadata["extracted_code"] = code
        yield record(rollout, _grade(grade, account))


def _account(value: JsonValue) -> JsonValue:
    """The source's account of one sample, which it writes as JSON text."""
    try:
        return decode_json(value) if isinstance(value, str) else value
    except JsonError:
        return value


def _grade(passed: JsonValue, account: JsonValue) -> Recorded | None:
    if not isinstance(passed, bool):
        return None
    details = account if isinstance(account, dict) else {}
    message = details.get("error_message")
    word = message if isinstance(message, str) and message and not passed else str(passed).lower()
    verdict = Verdict.PASSED if passed else verdict_of_code(details.get("error_code", False)) or Verdict.WRONG_ANSWER
    if verdict is Verdict.RUNTIME_ERROR and word.startswith(_NOT_LOADED):
        verdict = Verdict.COMPILE_ERROR
    return Recorded(verdict, word, "LiveCodeBench")


def _prompt(fields: Fields) -> str:
    question, starter = fields.get("question_content"), fields.get("starter_code")
    return "\n\n".join(part for part in (question, starter) if isinstance(part, str) and part)


def _list(fields: Fields, name: str) -> list[JsonValue]:
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RecordError(f"{name} must be a list, not {type(value).__name__}")
    return value


def _listed_cases(fields: Fields) -> Iterator[TestCase]:
    number = 0
    for name in ("public_test_cases", "private_test_cases"):
        for case in _test_cases(fields, name):
            input_, output = (case.get("input"), case.get("output")) if isinstance(case, dict) else (None, None)
            if not isinstance(input_, str) or not isinstance(output, str):
                raise RecordError(f"each case of {name} must have an input and an output that are text")
            yield TestCase(number, stdin_input(input_), output)
            number += 1


def _test_cases(fields: Fields, name: str) -> list[JsonValue]:
    value = fields.get(name)
    if isinstance(value, str) and value.strip() and value.lstrip()[0] not in "[{":
        value = _packed(value, name)
    cases = field.unpacked({name: value}, name)
    if cases is None:
        return []
    if not isinstance(cases, list):
        raise RecordError(f"{name} must be a list of {{input, output, testtype}}")
    return cases


def _packed(value: str, name: str) -> JsonValue:
    data = unpacked_field(value, name, _FIX)
    text = _only_text(data) if data.startswith(b"\x80") else data
    if text is None:
        raise RecordError(f"{name} is a pickle of more than one string, which is never loaded: {_FIX}")
    try:
        return decode_json(text)
    except JsonError as error:
        raise RecordError(f"{name} unpacks to text that is {error}: {_FIX}") from None


def _only_text(pickled: bytes) -> str | None:
    """The string in a pickle that holds one string and nothing else, else None. Runs no instruction."""
    text: str | None = None
    try:
        for operation, argument, _ in pickletools.genops(pickled):
            if operation.name in ("BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE", "UNICODE") and text is None:
                text = argument
            elif operation.name not in ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "PUT", "STOP"):
                return None
    except (ValueError, UnicodeError, EOFError):
        return None
    return text


FORMAT = Format(
    name="livecodebench",
    title="LiveCodeBench: question_content with test cases; output_list, code_list",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
    read_prompt=_prompt,
)
