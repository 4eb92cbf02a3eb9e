"""MultiPL-E's results (`*.results.json`): one object per task, with `name`, `language` and `results`.

Each result has the whole `program` (prompt, completion and tests) with its `status` and `exit_code`. If the file has
the `tests`, they are taken off, so that a dataset's own can grade it. `HumanEval_11_string_xor` is `HumanEval/11`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evaluator.formats import fields as field
from evaluator.formats._recorded import Recorded, record, verdict_of_error
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Kind, RecordError, Rollout, Verdict

_HUMAN_EVAL = re.compile(r"HumanEval_(\d+)_")
_VERDICTS = {
    "OK": Verdict.PASSED,
    "Exception": Verdict.RUNTIME_ERROR,
    "Timeout": Verdict.TIME_LIMIT,
    "SyntaxError": Verdict.COMPILE_ERROR,
}


def task_id_of(name: str) -> str:
    """The id under which HumanEval has its task; another name as it is."""
    own = _HUMAN_EVAL.match(name)
    return f"HumanEval/{own[1]}" if own else name


def claim_rollout(fields: Fields) -> Claim | None:
    results = fields.get("results")
    fits = {"name", "language"} <= fields.keys() and isinstance(results, list)
    first = results[0] if fits and results else {"program": ""}
    return Claim(3, "name, language, results") if fits and isinstance(first, dict) and "program" in first else None


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The programs of one task."""
    name = field.identifier(fields, "name")
    tests = field.text(fields, "tests").strip()
    about = field.without(fields, {"results", "prompt", "tests", "completions"})
    results = fields.get("results")
    if not isinstance(results, list):
        raise RecordError("results is missing: add a list of {program, status}")
    for number, result in enumerate(results):
        program = result.get("program") if isinstance(result, dict) else None
        if not isinstance(program, str):
            raise RecordError(f"results[{number}].program is missing: it and those after it are skipped")
        rollout = Rollout(
            task_id=task_id_of(name),
            completion=_without_tests(program, tests),
            sample_index=number,
            kind=Kind.FULL,
            metadata=about | field.without(result, {"program", "status"}),
        )
        grade = _grade(result)
        if grade is not None:
            rollout.expected_pass = grade.verdict is Verdict.PASSED
        yield record(rollout, grade)


def _without_tests(program: str, tests: str) -> str:
    code = program.rstrip()
    return code.removesuffix(tests).rstrip() + "\n" if tests and code.endswith(tests) else program


def _grade(result: Fields) -> Recorded | None:
    """It passed if its status is OK and its program ended with 0."""
    status, stderr = result.get("status"), result.get("stderr")
    if not isinstance(status, str):
        return None
    verdict = _VERDICTS.get(status, Verdict.UNKNOWN)
    if status == "OK" and result.get("exit_code", 0) != 0:
        verdict = Verdict.RUNTIME_ERROR
    if status == "Exception" and isinstance(stderr, str):
        verdict = verdict_of_error(stderr)
    return Recorded(verdict, status, "MultiPL-E")


FORMAT = Format(
    name="multipl_e",
    title="MultiPL-E's results: name, language, results with program, status",
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
