"""CodeContests: `name`, `description`, `public_tests`, `private_tests`, `generated_tests`, `solutions`.

The test cases of all three are graded, in this order. The reference is the first solution in Python 3; all others are
left out, as a row may have a megabyte of them. `time_limit` and `memory_limit_bytes` are for compiled programs, and
CodeContests' own tester does not set them: they stay in the metadata. The preamble is the header of contest graders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.given_tests import cases_from
from evaluator.import_headers import CONTEST
from evaluator.model import JsonValue, Mode, RecordError, Task

_TESTS = ("public_tests", "private_tests", "generated_tests")
_TAKEN = {"task_id", "name", "description", "solutions", "incorrect_solutions", "preamble", *_TESTS}
_PYTHON_3 = (3, "3", "PYTHON3", "python3")
"""As the number of the enumeration, or its name."""


def claim_task(fields: Fields) -> Claim | None:
    tests = [name for name in _TESTS if name in fields]
    if not {"name", "description"} <= fields.keys() or not tests:
        return None
    return Claim(3, ", ".join(["name, description", *tests]))


def read_task(fields: Fields) -> Task:
    """One task of mode stdin."""
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
        reference=next(iter(islice(_in_python(fields.get("solutions")), 1)), None),
        source="CodeContests",
        metadata=field.without(fields, _TAKEN) | {"test_counts": counts},
    )


def _in_python(solutions: JsonValue) -> Iterable[str]:
    if not isinstance(solutions, Mapping):
        return
    languages, texts = solutions.get("language"), solutions.get("solution")
    if isinstance(languages, list) and isinstance(texts, list):
        for language, text in zip(languages, texts, strict=False):
            if language in _PYTHON_3 and isinstance(text, str):
                yield text


FORMAT = Format(
    name="code_contests",
    title="CodeContests: name, description, public_tests, private_tests, generated_tests, solutions",
    claim_task=claim_task,
    read_task=read_task,
)
