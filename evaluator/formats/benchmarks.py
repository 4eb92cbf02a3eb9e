"""Benchmarks whose rows have test code: BigCodeBench, ClassEval, QuixBugs, AceCode and two of LeetCode.

docs/reference/formats.md says what they are. BigCodeBench puts `code_prompt` before every solution, in a module that
has `sys`, `os` and `environ`, ClassEval the lines of `import_statement`, both LeetCodes the header of their graders:
these are preambles, so that a program does not fail for leaving its imports out.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable

from evaluator import syntax
from evaluator.formats._code_samples import grade_of, is_result, read_sample, read_samples
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import before_function, test_code
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.problems import read_each
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, Tasks, any_of, claims, taken
from evaluator.model import JsonValue, RecordError, Rollout, brief
from evaluator.tasks.given_tests import entry_point_of, names_called

_MODULE_NAMES = "import os\nimport sys\nfrom os import environ\n"


def _bigcodebench_preamble(fields: Fields) -> str:
    code = field.text(fields, "code_prompt") or field.text(fields, "complete_prompt")
    return _MODULE_NAMES + before_function(code, field.text(fields, "entry_point").strip())


def _bigcodebench_prompt(fields: Fields) -> str:
    """The one that a completion can continue."""
    prompt = field.text(fields, "complete_prompt") or field.text(fields, "code_prompt")
    if not prompt:
        raise RecordError("complete_prompt is missing: add the start of the function, which completions may continue")
    return prompt


def _bigcodebench_reference(fields: Fields) -> str | None:
    canonical = field.text(fields, "canonical_solution")
    return f"{_bigcodebench_prompt(fields)}\n{canonical}" if canonical else None


BIGCODEBENCH = Format(
    name="bigcodebench",
    title="BigCodeBench: complete_prompt, code_prompt, test; samples with solution or completion, results of a run",
    tasks=Tasks(
        claim=claims("3: task_id, complete_prompt+instruct_prompt+code_prompt, test"),
        prompt=_bigcodebench_prompt,
        entry_point="entry_point",
        test=test_code("test"),
        preamble=_bigcodebench_preamble,
        reference=_bigcodebench_reference,
        source="BigCodeBench",
        left_out="complete_prompt, code_prompt, canonical_solution, test",
    ),
    rollouts=Rollouts(
        claim=any_of(
            claims("3: eval, (with status: the results of a run)", lambda row: is_result(row, "status")),
            claims("3: task_id=BigCodeBench/, solution|completion, !test"),
        ),
        code=read_samples,
    ),
)

_OF_CLASS = {
    "task_id", "predict", "skeleton", "test", "solution_code", "import_statement", "class_name", "class_description",
    "methods_info", "test_classes", "class_constructor", "fields",
}  # fmt: skip


def _read_classeval_samples(fields: Fields) -> Iterable[Rollout]:
    """The samples of one row, in the order of `predict`; a row without it has one sample.

    If a sample repeats its prompt, the completion is what follows the prompt's `### Response:`.
    """
    if "predict" not in fields:
        return (read_sample(fields),)
    samples, task_id = fields["predict"], field.identifier(fields, "task_id")
    if not isinstance(samples, list):
        raise RecordError("predict must be a list of strings, one per sample")
    others = field.without(fields, _OF_CLASS)

    def read(numbered: tuple[int, JsonValue]) -> tuple[Rollout]:
        index, sample = numbered
        if not isinstance(sample, str):
            raise RecordError(f"the sample must be text, not {brief(sample)}")
        completion = sample.partition("### Response:")[2] or sample
        return (Rollout(task_id=task_id, completion=completion, sample_index=index, metadata=others),)

    return read_each(enumerate(samples), read, lambda place, _: f"predict[{place}]")


CLASSEVAL = Format(
    name="classeval",
    title="ClassEval: skeleton, test, class_name, import_statement; samples in predict",
    tasks=Tasks(
        claim=claims("3: task_id, skeleton, test, class_name, !predict; 2: task_id, skeleton, test, class_name"),
        prompt="skeleton",
        entry_point="class_name",
        test=test_code("test"),
        preamble=lambda fields: "".join(f"{line}\n" for line in field.strings(fields, "import_statement")),
        reference="solution_code",
        source="ClassEval",
        left_out="test, import_statement, predict",
    ),
    rollouts=Rollouts(
        claim=claims(
            "3: task_id, predict, class_name; 2: task_id, predict; 3: task_id=ClassEval_, completion|solution"
        ),
        code=_read_classeval_samples,
    ),
)


def _repair(fields: Fields) -> str:
    """The prompt shows the program to repair."""
    parts = [field.text(fields, "docstring").strip(), field.text(fields, "buggy_program").strip()]
    program = "\n\n".join(part for part in parts if part)
    return f"Repair the Python function `{field.text(fields, 'name').strip()}`.\n\n{program}\n"


QUIXBUGS = Format(
    name="quixbugs",
    title="QuixBugs: name, buggy_program, docstring, solution, tests",
    tasks=Tasks(
        claim=claims("3: name, buggy_program, tests"),
        task_id="task_id|name",
        prompt=_repair,
        entry_point="name",
        test=test_code("tests"),
        reference="solution",
        source="QuixBugs",
        left_out="docstring, tests",
    ),
)


def _has_asserts(fields: Fields) -> bool:
    cases = fields.get("test_cases")
    return isinstance(cases, list) and bool(cases) and all(isinstance(case, str) for case in cases)


def _asserts(fields: Fields) -> str:
    cases = [text.strip() for text in field.strings(fields, "test_cases")]
    for number, text in enumerate(cases):
        if syntax.tree_of(text) is None:
            raise RecordError(f"test_cases[{number}] is not valid Python: give an assert")
    return "".join(f"{source}\n" for source in cases)


def _function_called(fields: Fields) -> str:
    """The function that the asserts call; of several, the one they call most often."""
    test = _asserts(fields)
    try:
        name = entry_point_of(test, "")
    except RecordError:
        tree = syntax.tree_of(test)
        called = Counter(names_called(tree.body if tree else ()))
        name = next((each for each, _ in called.most_common() if each not in dir(builtins)), None)
    if name is None:
        raise RecordError("test_cases call no function, so the entry point is unknown")
    return name


def _first_right(fields: Fields) -> str | None:
    """The first sample that passed all asserts."""
    samples = fields.get("inferences") or []
    passed = (each for each in samples if isinstance(each, dict) and field.number(each.get("pass_rate")) == 1)
    return next((field.text(sample, "completion") for sample in passed), None)


def _passed_all(sample: Fields) -> bool | None:
    rate = field.number(sample.get("pass_rate"))
    return None if rate is None else rate >= 1


ACECODE = Format(
    name="acecode",
    title="AceCode: id, question, test_cases of asserts; samples in inferences with pass_rate",
    tasks=Tasks(
        claim=claims("3: id, question, test_cases, (of asserts)", _has_asserts),
        task_id="task_id|id",
        prompt="question",
        entry_point=_function_called,
        test=_asserts,
        reference=_first_right,
        source=lambda fields: f"AceCode {field.text(fields, 'source')}".strip(),
        left_out="test_cases, inferences, context_messages, source",
    ),
    rollouts=Rollouts(
        claim=claims("2: id, question, inferences:list", lambda row: _has_asserts(row) and row["inferences"]),
        each="inferences",
        task_id="task_id|id",
        prompt="question",
        sample_id=lambda sample: f"{taken(sample, 'task_id|id')}#{sample['sample_index']}",
        sample_index="completion_id|sample_index",
        model="model_name",
        reward="pass_rate",
        passed=_passed_all,
        by="AceCode",
        left_out="test_cases, context_messages, source",
    ),
)

_METHOD_OF = "Solution()."


def _leetcode_prompt(fields: Fields) -> str:
    """What a model is asked; early versions have it in `meta`. Else the description and the code to start from."""
    parts = [field.text(fields, "problem_description"), field.text(fields, "starter_code")]
    query = field.text(fields, "query") or field.text(field.inner(fields, "meta"), "query")
    return query or "\n\n".join(part for part in parts if part)


LEETCODE = Format(
    name="leetcode_dataset",
    title="LeetCodeDataset: prompt, completion, entry_point Solution().name, test, query",
    tasks=Tasks(
        claim=claims(
            "3: prompt, completion, entry_point, test, query, response, task_id; "
            f"3: task_id, prompt, completion, test, entry_point={_METHOD_OF}"
        ),
        prompt=_leetcode_prompt,
        entry_point=lambda fields: field.text(fields, "entry_point").removeprefix(_METHOD_OF),
        test=test_code("test"),
        preamble=lambda fields: field.text(fields, "prompt"),
        reference="completion",
        source="LeetCodeDataset",
        left_out="prompt, entry_point, test, input_output, examples, query",
    ),
)

_WHOLE = "math re sys copy datetime itertools collections heapq functools hashlib string".split()
_STARRED = ("typing", "collections", "functools")
_HEADER = "".join([*(f"import {name}\n" for name in _WHOLE), *(f"from {name} import *\n" for name in _STARRED)])
"""Of DeepSeek-Coder's grader, without numpy."""
_METHOD = re.compile(r"\bmy_solution\.(\w+)\(")
_SOLUTION = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)


def _method_called(fields: Fields) -> str:
    own = str(fields.get("entry_point") or "").rpartition(".")[2]
    called = _METHOD.search(field.text(fields, "test"))
    if not own and called is None:
        raise RecordError("entry_point is missing, and test calls no method of my_solution: name the method to call")
    return own or (called[1] if called else "")


def _deepseek_reference(fields: Fields) -> str | None:
    canonical = field.text(fields, "canonical_solution")
    return field.text(fields, "prompt") + canonical if canonical and not _SOLUTION.search(canonical) else canonical


def _before_solution(fields: Fields) -> str:
    """The header, and the code before the class in the prompt, from its first class, function or import on."""
    prompt = field.text(fields, "prompt")
    found = _SOLUTION.search(prompt)
    before = prompt[: found.start()] if found else ""
    tree = syntax.tree_of(before)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Import | ast.ImportFrom):
            return _HEADER + "".join(before.splitlines(keepends=True)[node.lineno - 1 :])
    return _HEADER


def _deepseek_grade(fields: Fields) -> Recorded | None:
    grade = grade_of(fields)
    return grade and grade._replace(by="DeepSeek-Coder")


DEEPSEEK = Format(
    name="deepseek_leetcode",
    title="DeepSeek-Coder's LeetCode: prompt, prompt_sft, meta, test; samples with output",
    tasks=Tasks(
        claim=claims(
            "2: task_id, prompt, prompt_sft, test, output:some|generation:some, !completion; "
            "3: task_id, prompt, prompt_sft, test, !completion"
        ),
        entry_point=_method_called,
        test=test_code("test"),
        preamble=_before_solution,
        reference=_deepseek_reference,
        source="DeepSeek LeetCode",
        left_out="test, entry_point, canonical_solution, passed, result, finish, output, generation",
    ),
    rollouts=Rollouts(
        claim=claims("3: task_id, prompt_sft, output:some|generation:some"),
        completion="output|generation",
        passed="passed",
        grade=_deepseek_grade,
        left_out=(
            "test, entry_point, canonical_solution, result, finish, output, generation, prompt_sft, title, "
            "url, meta, start_time, difficulty, preamble"
        ),
    ),
)
