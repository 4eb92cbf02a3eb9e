"""Contest problems, decided by inputs and outputs: APPS and TACO, CodeContests, LiveCodeBench.

APPS and TACO have `question`, `input_output` (JSON, often as text), `solutions` (JSON list, often as text) and
`starter_code`. If `input_output` has `fn_name`, the task's mode is call, and each input is the list of arguments. Many
of these tasks wrap each output in a list of one: see `evaluator.given_tests`.

CodeContests has `name`, `description`, `public_tests`, `private_tests`, `generated_tests` and `solutions`. The test
cases of all three are graded, in this order. The reference is the first solution in Python 3; all others are left out,
as a row may have a megabyte of them. `time_limit` and `memory_limit_bytes` are for compiled programs, and CodeContests'
own tester does not set them: they stay in the metadata.

LiveCodeBench's tasks are as in its release or as its grader takes them: `question_id, question_content, starter_code,
public_test_cases, private_test_cases, metadata`, where the test cases are JSON (text) lists of `{input, output,
testtype}`; or `input_output` as JSON of `{inputs, outputs, fn_name}`. The release packs its private test cases as
base64 of zlib of a pickle of one string. Nothing is ever unpickled: that string is read out of the pickle's
instructions, and any other pickle is refused. Its runner writes a JSON list of `question_id, output_list[],
code_list[]`, with `graded_list[]` and `metadata[]` in graded files (`_eval_all.json`). The raw output is graded;
`code_list` (from their extraction) only if there is no output. `metadata` has the first failure of each sample as JSON
text: its `error_code` says which verdict it was.

The preamble of a task is the header of imports that its graders put before every completion.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator

from evaluator.formats import fields as field
from evaluator.formats._recorded import Recorded, record
from evaluator.formats.compression import unpacked_field
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.registry import Claim, Fields, Format, claim_by
from evaluator.given_tests import About, cases_from, stdin_input
from evaluator.import_headers import CONTEST, LIVECODEBENCH
from evaluator.model import JsonValue, Kind, Mode, RecordError, Rollout, Task, TestCase, Verdict
from evaluator.recorded import verdict_of_code

_APPS_IDS = ("task_id", "problem_id", "id")
_APPS_TAKEN = {"question", "input_output", "solutions", "starter_code", "preamble", *_APPS_IDS}
_TESTS = ("public_tests", "private_tests", "generated_tests")
_CODE_CONTESTS_TAKEN = {
    "task_id", "name", "description", "solutions", "incorrect_solutions", "preamble", *_TESTS,
}  # fmt: skip
_PYTHON_3 = (3, "3", "PYTHON3", "python3")
"""As the number of the enumeration, or its name."""
_CASES = ("public_test_cases", "private_test_cases")
_LIVECODEBENCH_TAKEN = {
    "question_id", "question_content", "starter_code", "metadata", "input_output", "preamble", *_CASES,
}  # fmt: skip
_OF_QUESTION = ("question_title", "platform", "contest_id", "contest_date", "difficulty")
_LISTS = ("output_list", "code_list", "graded_list")
_NOT_LOADED = "Error during testing"
"""How the message of its -4 begins if the program did not even load."""
_FIX = (
    "convert the file once, in a process whose input you trust, so that private_test_cases is a JSON list of "
    "{input, output, testtype}"
)


def _claim_apps(fields: Fields) -> Claim | None:
    return None if "question_content" in fields else _HAS_APPS(fields)


_HAS_APPS = claim_by(3, "input_output, question", "solutions, problem_id, starter_code", least=0)


def read_apps(fields: Fields) -> Task:
    """One task. Without `input_output` it has no test cases. A row without an id gets one made from the question."""
    in_outs = field.optional_object(fields, "input_output", field.IN_OUTS) or {}
    entry_point = field.text(in_outs, "fn_name") or None
    mode = Mode.CALL if entry_point else Mode.STDIN
    question, starter = field.text(fields, "question"), field.text(fields, "starter_code")
    solutions = field.unpacked(fields, "solutions")
    first = solutions[0] if isinstance(solutions, list) and solutions else None
    reference = first if isinstance(first, str) else None
    own = field.first(fields, _APPS_IDS)
    return Task(
        task_id=field.identifier(fields, own) if own else field.id_from_prompt(question),
        mode=mode,
        prompt=f"{question}\n\n{starter}" if starter else question,
        entry_point=entry_point,
        cases=cases_from(in_outs, mode, About(entry_point, reference or "", f"{starter}\n{question}")),
        preamble=field.preamble(fields, CONTEST),
        reference=reference,
        source=field.text(fields, "source") or "APPS",
        metadata=field.without(fields, _APPS_TAKEN),
    )


def _read_code_contests(fields: Fields) -> Task:
    inputs: list[JsonValue] = []
    outputs: list[JsonValue] = []
    counts: dict[str, int] = {}
    for name in _TESTS:
        tests = field.optional_object(fields, name, '{"input": [...], "output": [...]}') or {}
        more = field.strings(tests, "input"), field.strings(tests, "output")
        if len(more[0]) != len(more[1]):
            raise RecordError(f"{name} has {len(more[0])} inputs but {len(more[1])} outputs: give one output per input")
        inputs += more[0]
        outputs += more[1]
        counts[name] = len(more[0])
    return Task(
        task_id=field.optional_identifier(fields, "task_id") or field.identifier(fields, "name"),
        mode=Mode.STDIN,
        prompt=field.text(fields, "description"),
        cases=cases_from({"inputs": inputs, "outputs": outputs}, Mode.STDIN),
        preamble=field.preamble(fields, CONTEST),
        reference=_first_in_python(field.inner(fields, "solutions")),
        source="CodeContests",
        metadata=field.without(fields, _CODE_CONTESTS_TAKEN) | {"test_counts": counts},
    )


def _first_in_python(solutions: Fields) -> str | None:
    languages, texts = solutions.get("language"), solutions.get("solution")
    if not isinstance(languages, list) or not isinstance(texts, list):
        return None
    pairs = zip(languages, texts, strict=False)
    return next((text for language, text in pairs if language in _PYTHON_3 and isinstance(text, str)), None)


def _claim_livecodebench(fields: Fields) -> Claim | None:
    if not fields.keys() & {"question_id", "question_content"}:
        return None
    if fields.keys() & {"output_list", "code_list", "entry_point"}:
        return None
    marks = [name for name in ("question_content", *_CASES, "input_output") if name in fields]
    return Claim(3, ", ".join(marks)) if len(marks) > 1 or "input_output" in marks else None


def _claim_livecodebench_samples(fields: Fields) -> Claim | None:
    if _is_metrics(fields):
        return Claim(3, "pass@1, detail: the metrics of a run, without its code")
    return _HAS_LISTS(fields)


_HAS_LISTS = claim_by(3, "question_id", ", ".join(_LISTS))


def _is_metrics(fields: Fields) -> bool:
    """Whether it is the first element of `_eval.json`, a list of metrics, results by number and metadata."""
    return "pass@1" in fields and isinstance(fields.get("detail"), dict)


def read_livecodebench(fields: Fields) -> Task:
    """One task: mode call if it names a function (`func_name`, `fn_name`), else stdin."""
    metadata = field.unpacked(fields, "metadata")
    details = metadata if isinstance(metadata, dict) else {}
    in_outs = field.optional_object(fields, "input_output", field.IN_OUTS)
    function = (in_outs or {}).get("fn_name") or details.get("func_name")
    if function is not None and not isinstance(function, str):
        raise RecordError("the function's name (fn_name, func_name) must be text")
    mode = Mode.CALL if function else Mode.STDIN
    question, starter = field.text(fields, "question_content"), field.text(fields, "starter_code")
    about = About(function, prompt=f"{starter}\n{question}")
    return Task(
        task_id=field.identifier(fields, "question_id"),
        mode=mode,
        prompt=f"{question}\n\n{starter}" if starter else question,
        entry_point=function or None,
        cases=cases_from(in_outs, mode, about) if in_outs else tuple(_listed_cases(fields)),
        preamble=field.preamble(fields, LIVECODEBENCH),
        source="LiveCodeBench",
        metadata={**field.without(fields, _LIVECODEBENCH_TAKEN), **details},
    )


def _read_livecodebench_samples(fields: Fields) -> Iterator[Rollout]:
    """Every sample of one question, in the order of its lists."""
    if _is_metrics(fields) or (fields and all(name.isdecimal() for name in fields)):
        raise RecordError("has metrics and no code: open the file beside it whose name ends in _eval_all.json")
    outputs, codes, graded = (_list(fields, name) for name in _LISTS)
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


def _livecodebench_prompt(fields: Fields) -> str:
    parts = (fields.get("question_content"), fields.get("starter_code"))
    return "\n\n".join(part for part in parts if isinstance(part, str) and part)


def _list(fields: Fields, name: str) -> list[JsonValue]:
    value = fields.get(name)
    if value is not None and not isinstance(value, list):
        raise RecordError(f"{name} must be a list, not {type(value).__name__}")
    return value or []


def _listed_cases(fields: Fields) -> Iterator[TestCase]:
    cases = ((name, case) for name in _CASES for case in _test_cases(fields, name))
    for number, (name, case) in enumerate(cases):
        input_, output = (case.get("input"), case.get("output")) if isinstance(case, dict) else (None, None)
        if not isinstance(input_, str) or not isinstance(output, str):
            raise RecordError(f"each case of {name} must have an input and an output that are text")
        yield TestCase(number, stdin_input(input_), output)


def _test_cases(fields: Fields, name: str) -> list[JsonValue]:
    value = fields.get(name)
    if isinstance(value, str) and value.strip() and value.lstrip()[0] not in "[{":
        value = _packed(value, name)
    cases = field.unpacked({name: value}, name)
    if cases is not None and not isinstance(cases, list):
        raise RecordError(f"{name} must be a list of {{input, output, testtype}}")
    return cases or []


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


APPS = Format(name="apps", title="APPS: question, input_output, solutions", claim_task=_claim_apps, read_task=read_apps)
CODE_CONTESTS = Format(
    name="code_contests",
    title="CodeContests: name, description, public_tests, private_tests, generated_tests, solutions",
    claim_task=claim_by(3, "name, description", ", ".join(_TESTS)),
    read_task=_read_code_contests,
)
LIVECODEBENCH_FORMAT = Format(
    name="livecodebench",
    title="LiveCodeBench: question_content with test cases; output_list, code_list",
    claim_task=_claim_livecodebench,
    read_task=read_livecodebench,
    claim_rollout=_claim_livecodebench_samples,
    read_rollouts=_read_livecodebench_samples,
    read_prompt=_livecodebench_prompt,
)
