"""HumanEval, and formats whose rows are its own with something else: HumanEval-X, MultiPL-E, Reflexion, LLMDebugger.

HumanEval (and HumanEval+ as it is on the Hugging Face Hub) has tasks with `prompt`, `entry_point`, `test` and samples
with `completion`. It runs `prompt + completion`, and the `suffix` after them if the row has one (infilling). The part
of the prompt before the requested function (imports, helpers) is the preamble, so that a completion that is a whole
program has it. A `completion` is a program or the rest of the prompt; its text shows which. The `passed` and `result`
of result files become the source's grade.

HumanEval-X has `declaration` and `test`, MultiPL-E `name`, `tests` and `stop_tokens`, both no `entry_point`: that is
the last function that the declaration or the prompt defines. Such rows may have a `generation`. MultiPL-E's results
(`*.results.json`) are an object per task, with `name`, `language` and `results`. Each result has the whole `program`
(prompt, completion and tests) with its `status` and `exit_code`. If the file has the `tests`, they are taken off, so
that a dataset's own can grade it. `HumanEval_11_string_xor` is `HumanEval/11`.

The logs of Reflexion and of LLMDebugger (LDB) are HumanEval's or MBPP's rows with `solution` and `is_solved`: each is a
task and its last solution, a program. What led to it (`implementations`, `test_feedback`, `reflections`, ...) is kept
as metadata; `is_solved` is the grade of the hidden tests. Some logs leave out what was not solved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluator.formats import fields as field
from evaluator.formats._code_rows import before_function, code_task, read_sample, required_name
from evaluator.formats._recorded import Recorded, record, recorded_truth, verdict_of_error
from evaluator.formats._trainer_rows import rest
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import Kind, RecordError, Rollout, Task, Verdict

_TAKEN = {"task_id", "prompt", "entry_point", "canonical_solution", "test", "suffix"}
_DIALECTS = (("task_id", "prompt", "declaration", "test"), ("name", "prompt", "tests"), ("name", "prompt", "test"))
_NOT_X = {"is_solved", "results", "mode"}
_X_TEXTS = ("generation", "output")
_FUNCTION = re.compile(r"^(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_X_TAKEN = {
    "task_id", "name", "prompt", "entry_point", "canonical_solution", "test", "tests", "declaration", "example_test",
    "text", "stop_tokens", "model",
}  # fmt: skip
_HUMAN_EVAL = re.compile(r"HumanEval_(\d+)_")
_STATUSES = {
    "OK": Verdict.PASSED,
    "Exception": Verdict.RUNTIME_ERROR,
    "Timeout": Verdict.TIME_LIMIT,
    "SyntaxError": Verdict.COMPILE_ERROR,
}
_LOG_IDS = {"task_id", "name"}
_OF_LOGGED_TASK = {"prompt", "entry_point", "canonical_solution", "cannonical_solution", "test", *_LOG_IDS}
_OF_LOGGED_SAMPLE = {
    "solution", "is_solved", "is_passing", "reflections", "implementations", "test_feedback", "seed", "given_tests",
    "generated_test", "debug_iter", "token_nums", "cur_func_impl", "visible_tests",
}  # fmt: skip
_OF_DEBUGGER = {"seed", "given_tests", "generated_test", "debug_iter", "is_passing"}
_RUST = re.compile(r"^\s*(?:pub )?fn \w+", re.MULTILINE)
_PYTHON = re.compile(r"^\s*(?:async )?def \w+", re.MULTILINE)
"""Not every log names its language."""


def _claim_task(fields: Fields) -> Claim | None:
    if not {"task_id", "prompt", "entry_point"} <= fields.keys() or "mode" in fields or "is_solved" in fields:
        return None
    marks = [name for name in ("canonical_solution", "test") if name in fields]
    return Claim(1 + len(marks), ", ".join(["task_id, prompt, entry_point", *marks])) if marks else None


def _claim_rollout(fields: Fields) -> Claim | None:
    if not {"task_id", "completion"} <= fields.keys():
        return None
    if "passed" in fields and "result" in fields:
        return Claim(3, "task_id, completion, passed, result")
    task_id = fields["task_id"]
    ours = isinstance(task_id, str) and task_id.startswith("HumanEval/")
    return Claim(2, f"task_id {task_id!r}, completion") if ours else None


def read_task(fields: Fields) -> Task:
    """One task, of mode unittest if its `test` has such classes. Without `test` it can't be graded."""
    prompt = field.text(fields, "prompt")
    entry_point = required_name(fields, "entry_point")
    canonical, suffix = field.text(fields, "canonical_solution"), field.text(fields, "suffix")
    return code_task(
        fields,
        field.text(fields, "test"),
        _TAKEN,
        prompt=prompt,
        suffix=suffix,
        entry_point=entry_point,
        preamble=before_function(prompt, entry_point),
        reference=prompt + canonical + suffix if canonical else None,
        source="HumanEval",
    )


def _claim_x_task(fields: Fields) -> Claim | None:
    """Weaker than the formats of other datasets, whose rows may have such fields too."""
    found = next((names for names in _DIALECTS if fields.keys() >= {*names}), None)
    if found is None or fields.keys() & _NOT_X or (found[0] == "name" and "stop_tokens" not in fields):
        return None
    return Claim(2, ", ".join(found))


def _claim_x_rollout(fields: Fields) -> Claim | None:
    text = _x_text(fields)
    return Claim(3, f"{claim.why}, {text}") if text and (claim := _claim_x_task(fields)) else None


def _read_x_task(fields: Fields) -> Task:
    entry_point = field.text(fields, "entry_point")
    if not entry_point:
        names = _FUNCTION.findall(field.text(fields, "declaration") or field.text(fields, "prompt"))
        if not names:
            raise RecordError("the prompt defines no Python function: only Python is graded, so this row is skipped")
        entry_point = names[-1]
    test = field.text(fields, "tests") or field.text(fields, "test")
    row = field.without(fields, {"name", "tests", *_X_TEXTS})
    task = read_task({**row, "task_id": _x_task_id(fields), "entry_point": entry_point, "test": test})
    task.source = "HumanEval" if task.task_id.startswith(("HumanEval/", "Python/")) else ""
    return task


def _read_x_rollout(fields: Fields) -> Rollout:
    name = _x_text(fields)
    if name is None:
        raise RecordError("generation is missing: add the text that the model wrote")
    return Rollout(
        task_id=_x_task_id(fields),
        completion=field.text(fields, name),
        model=field.optional_identifier(fields, "model"),
        metadata=rest(fields, {name, *_X_TAKEN}),
    )


def _x_text(fields: Fields) -> str | None:
    return next((name for name in _X_TEXTS if isinstance(fields.get(name), str)), None)


def _x_task_id(fields: Fields) -> str:
    """The id under which HumanEval has its task; another name as it is."""
    name = field.identifier(fields, "name" if "name" in fields else "task_id")
    own = _HUMAN_EVAL.match(name)
    return f"HumanEval/{own[1]}" if own else name


def _claim_results(fields: Fields) -> Claim | None:
    results = fields.get("results")
    fits = {"name", "language"} <= fields.keys() and isinstance(results, list)
    first = results[0] if fits and results else {"program": ""}
    return Claim(3, "name, language, results") if fits and isinstance(first, dict) and "program" in first else None


def _read_results(fields: Fields) -> Iterator[Rollout]:
    """The programs of one task."""
    field.identifier(fields, "name")
    tests = field.text(fields, "tests").strip()
    about = field.without(fields, {"results", "prompt", "tests", "completions"})
    results = fields.get("results")
    if not isinstance(results, list):
        raise RecordError("results is missing: add a list of {program, status}")
    for number, result in enumerate(results):
        program = result.get("program") if isinstance(result, dict) else None
        if not isinstance(program, str):
            raise RecordError(f"results[{number}].program is missing: it and those after it are skipped")
        code = program.rstrip()
        ends_in_tests = tests and code.endswith(tests)
        grade = _grade_of_result(result)
        rollout = Rollout(
            task_id=_x_task_id(fields),
            completion=code.removesuffix(tests).rstrip() + "\n" if ends_in_tests else program,
            sample_index=number,
            kind=Kind.FULL,
            expected_pass=grade.verdict is Verdict.PASSED if grade else None,
            metadata=about | field.without(result, {"program", "status"}),
        )
        yield record(rollout, grade)


def _grade_of_result(result: Fields) -> Recorded | None:
    """It passed if its status is OK and its program ended with 0."""
    status, stderr = result.get("status"), result.get("stderr")
    if not isinstance(status, str):
        return None
    verdict = _STATUSES.get(status, Verdict.UNKNOWN)
    if status == "OK" and result.get("exit_code", 0) != 0:
        verdict = Verdict.RUNTIME_ERROR
    if status == "Exception" and isinstance(stderr, str):
        verdict = verdict_of_error(stderr)
    return Recorded(verdict, status, "MultiPL-E")


def _claim_logged(fields: Fields) -> Claim | None:
    fits = {"prompt", "solution", "is_solved"} <= fields.keys() and not fields.keys().isdisjoint(_LOG_IDS)
    return Claim(3, "prompt, solution, is_solved") if fits else None


def _read_logged_task(fields: Fields) -> Task:
    task_id = _logged_id(fields)
    task = read_task({"task_id": task_id, **field.without(fields, _OF_LOGGED_SAMPLE | _LOG_IDS)})
    task.source = task.source if task_id.startswith("HumanEval/") else ""
    return task


def _read_logged(fields: Fields) -> Rollout:
    """The solution of one row. Raises `RecordError` if it has none, or is a Rust program."""
    task_id = _logged_id(fields)
    if "solution" not in fields:
        raise RecordError("solution is missing: add the program that the model wrote")
    rollout = Rollout(
        task_id=task_id,
        completion=field.text(fields, "solution"),
        kind=Kind.FULL,
        model=field.optional_identifier(fields, "model"),
        expected_pass=field.optional_truth(fields, "is_solved"),
        metadata=field.without(fields, _OF_LOGGED_TASK | {"solution", "is_solved", "model"}),
    )
    by = "reflexion" if _OF_DEBUGGER.isdisjoint(fields) else "LLMDebugger"
    return record(rollout, recorded_truth(rollout.expected_pass, by, "is_solved "))


def _logged_id(fields: Fields) -> str:
    """Its `task_id`; MBPP's rows have a `name`."""
    prompt = field.text(fields, "prompt")
    if _RUST.search(prompt) and not _PYTHON.search(prompt):
        raise RecordError("the prompt is Rust: only Python is read and graded, so this row is skipped")
    return field.identifier(fields, "name" if fields.get("task_id") is None and "name" in fields else "task_id")


FORMAT = Format(
    name="humaneval",
    title="HumanEval, HumanEval+: prompt, entry_point, test; samples with completion",
    claim_task=_claim_task,
    read_task=read_task,
    claim_rollout=_claim_rollout,
    read_rollouts=one_per_row(read_sample),
)
HUMANEVAL_X = Format(
    name="humaneval_x",
    title="HumanEval-X, MultiPL-E's prompts: HumanEval's rows without entry_point, also with generation",
    claim_task=_claim_x_task,
    read_task=_read_x_task,
    claim_rollout=_claim_x_rollout,
    read_rollouts=one_per_row(_read_x_rollout),
    repeats_tasks=True,
)
MULTIPL_E = Format(
    name="multipl_e",
    title="MultiPL-E's results: name, language, results with program, status",
    claim_rollout=_claim_results,
    read_rollouts=_read_results,
)
REFLEXION = Format(
    name="reflexion",
    title="Reflexion, LLMDebugger: HumanEval's rows with solution, is_solved",
    claim_task=lambda fields: Claim(2, "is_solved, test") if _claim_logged(fields) and "test" in fields else None,
    read_task=_read_logged_task,
    claim_rollout=_claim_logged,
    read_rollouts=one_per_row(_read_logged),
    repeats_tasks=True,
)
