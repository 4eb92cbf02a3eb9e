"""Benchmarks whose rows have test code: BigCodeBench, ClassEval, QuixBugs, AceCode and two of LeetCode.

BigCodeBench, whole and hard: `complete_prompt`, `instruct_prompt`, `code_prompt`, `canonical_solution`, `test`; samples
with `completion` or `solution`, and the results of its runs. A completion is the rest of `complete_prompt`, a program,
or a chat answer to `instruct_prompt`; its text shows which. BigCodeBench puts `code_prompt` before every solution, in a
module that has `sys`, `os` and `environ`. So the preamble imports those, followed by what comes before the function
(imports, constants), and a program does not fail for leaving its imports out. Its tests create the files they need.

ClassEval: `skeleton`, `test`, `class_name`, `import_statement`; its generated rows are task rows with `predict`, a list
of samples. A completion is the whole class, as a program or in a chat answer. If a sample repeats its prompt, the
completion is what follows the prompt's `### Response:`. ClassEval puts the lines of `import_statement` before every
completion, so they are the preamble. Its tests create the files they need.

QuixBugs as one row per program: `name`, `buggy_program`, `docstring`, `solution`, `tests`. A completion is the repaired
program. `tests` is code with asserts that call it.

AceCode: `id`, `question`, `test_cases` (asserts, one a text), and `inferences`: samples with their `pass_rate`. The
asserts are the task's test; they call the function by its name. The reference is the first sample that passed all of
them. The same rows are also rollouts: every sample, with its `pass_rate` as the reward.

LeetCodeDataset (newfacade): `task_id`, `prompt`, `completion`, `entry_point`, `test`, and `query` with `response`. Its
`prompt` is code: the imports and the node classes that its grader puts before every completion, so it becomes the
preamble. What a model is asked is `query`. The entry point is a method, written `Solution().name`. `completion` is the
reference, so these rows are tasks although they have the fields of samples; `input_output` repeats the cases of `test`
and is left out.

DeepSeek-Coder's LeetCode contest problems: `task_id`, `title`, `prompt`, `prompt_sft`, `meta`, `test`. `test` makes a
`Solution` and has asserts at its top level, each with its arguments in `test_input`. The preamble is the header of its
grader, without numpy, and the classes that come before `Solution` in `prompt` (such as `ListNode`). Its generated rows
are task rows with `output`, the text of one sample; rows of its results have `passed` too.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats._code_rows import (
    before_function,
    code_task,
    is_result,
    read_sample,
    read_samples,
    required_name,
    required_test,
)
from evaluator.formats._recorded import of_sample, record
from evaluator.formats.registry import Claim, Fields, Format, claim_by, one_per_row
from evaluator.given_tests import entry_point_of, names_called
from evaluator.model import JsonValue, Mode, RecordError, Rollout, Task

_BIGCODEBENCH_TAKEN = {"task_id", "complete_prompt", "code_prompt", "canonical_solution", "test", "entry_point"}
_MODULE_NAMES = "import os\nimport sys\nfrom os import environ\n"
_CLASSEVAL_TAKEN = {"task_id", "skeleton", "test", "solution_code", "import_statement", "class_name", "predict"}
_OF_CLASS = {"class_description", "methods_info", "test_classes", "class_constructor", "fields"}
_END_OF_PROMPT = "### Response:"
_QUIXBUGS_TAKEN = {"task_id", "name", "docstring", "buggy_program", "solution", "tests"}
_ACECODE_TAKEN = {"id", "task_id", "question", "test_cases", "inferences", "context_messages", "source"}
_METHOD_OF = "Solution()."
_LEETCODE_TAKEN = {
    "task_id", "prompt", "completion", "entry_point", "test", "input_output", "examples", "query", "preamble",
}  # fmt: skip
_DEEPSEEK_TEXTS = ("output", "generation")
_DEEPSEEK_TAKEN = {
    "task_id", "prompt", "test", "entry_point", "canonical_solution", "preamble", "passed", "result", "finish",
    *_DEEPSEEK_TEXTS,
}  # fmt: skip
_OF_DEEPSEEK_TASK = {"prompt_sft", "title", "url", "meta", "start_time", "difficulty"}
_WHOLE = "math re sys copy datetime itertools collections heapq functools hashlib string".split()
_STARRED = ("typing", "collections", "functools")
_HEADER = "".join([*(f"import {name}\n" for name in _WHOLE), *(f"from {name} import *\n" for name in _STARRED)])
_METHOD = re.compile(r"\bmy_solution\.(\w+)\(")
_SOLUTION = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)


def _claim_bigcodebench(fields: Fields) -> Claim | None:
    marks = [name for name in ("complete_prompt", "instruct_prompt", "code_prompt") if name in fields]
    fits = "task_id" in fields and "test" in fields and marks
    return Claim(3, ", ".join(["task_id", *marks, "test"])) if fits else None


def _claim_bigcodebench_sample(fields: Fields) -> Claim | None:
    if is_result(fields, "status"):
        return Claim(3, "eval, status: the results of a run")
    return None if "test" in fields else _claim_id(fields, "BigCodeBench/", ("solution", "completion"))


def _claim_id(fields: Fields, prefix: str, texts: tuple[str, str]) -> Claim | None:
    """A claim to samples by the id of their task."""
    text = next((name for name in texts if name in fields), None)
    ours = text and str(fields.get("task_id")).startswith(prefix)
    return Claim(3, f"task_id {fields['task_id']!r}, {text}") if ours else None


def _read_bigcodebench(fields: Fields) -> Task:
    """One task. Its prompt is the one that a completion can continue."""
    entry_point = required_name(fields, "entry_point")
    code_prompt = field.text(fields, "code_prompt")
    prompt = field.text(fields, "complete_prompt") or code_prompt
    if not prompt:
        raise RecordError("complete_prompt is missing: add the start of the function, which completions may continue")
    canonical = field.text(fields, "canonical_solution")
    return code_task(
        fields,
        required_test(fields),
        _BIGCODEBENCH_TAKEN,
        prompt=prompt,
        entry_point=entry_point,
        preamble=_MODULE_NAMES + before_function(code_prompt or prompt, entry_point),
        reference=f"{prompt}\n{canonical}" if canonical else None,
        source="BigCodeBench",
    )


def _claim_classeval(fields: Fields) -> Claim | None:
    fits = {"task_id", "skeleton", "test", "class_name"} <= fields.keys()
    return Claim(2 if "predict" in fields else 3, "task_id, skeleton, test, class_name") if fits else None


def _claim_classeval_sample(fields: Fields) -> Claim | None:
    if "predict" in fields and "task_id" in fields:
        return Claim(3 if "class_name" in fields else 2, "task_id, predict")
    return _claim_id(fields, "ClassEval_", ("completion", "solution"))


def _read_classeval(fields: Fields) -> Task:
    """One task; its entry point is the class."""
    return code_task(
        fields,
        required_test(fields),
        _CLASSEVAL_TAKEN,
        prompt=field.text(fields, "skeleton"),
        entry_point=required_name(fields, "class_name"),
        preamble="".join(f"{line}\n" for line in field.strings(fields, "import_statement")),
        reference=field.text(fields, "solution_code") or None,
        source="ClassEval",
    )


def _read_classeval_samples(fields: Fields) -> Iterator[Rollout]:
    """The samples of one row, in the order of `predict`; a row without it has one sample."""
    if "predict" not in fields:
        yield read_sample(fields)
        return
    task_id = field.identifier(fields, "task_id")
    samples = fields["predict"]
    if not isinstance(samples, list) or not all(isinstance(sample, str) for sample in samples):
        raise RecordError("predict must be a list of strings, one per sample")
    metadata = field.without(fields, _CLASSEVAL_TAKEN | _OF_CLASS)
    for index, sample in enumerate(samples):
        completion = sample.partition(_END_OF_PROMPT)[2] or sample
        yield Rollout(task_id=task_id, completion=completion, sample_index=index, metadata=metadata)


def _read_quixbugs(fields: Fields) -> Task:
    """One task, whose prompt shows the program to repair."""
    name = required_name(fields, "name")
    parts = [field.text(fields, "docstring").strip(), field.text(fields, "buggy_program").strip()]
    program = "\n\n".join(part for part in parts if part)
    return code_task(
        fields,
        required_test(fields, "tests"),
        _QUIXBUGS_TAKEN,
        task_id=field.optional_identifier(fields, "task_id") or name,
        prompt=f"Repair the Python function `{name}`.\n\n{program}\n",
        entry_point=name,
        reference=field.text(fields, "solution") or None,
        source="QuixBugs",
        metadata={"buggy_program": fields.get("buggy_program")},
    )


def _claim_acecode(fields: Fields) -> Claim | None:
    cases = fields.get("test_cases")
    if not {"id", "question"} <= fields.keys() or not isinstance(cases, list) or not cases:
        return None
    return Claim(3, "id, question, test_cases of asserts") if all(isinstance(case, str) for case in cases) else None


def _claim_acecode_samples(fields: Fields) -> Claim | None:
    fits = _claim_acecode(fields) and isinstance(fields.get("inferences"), list) and fields["inferences"]
    return Claim(2, "id, question, inferences") if fits else None


def _read_acecode(fields: Fields) -> Task:
    cases = [text.strip() for text in field.strings(fields, "test_cases")]
    for number, text in enumerate(cases):
        if syntax.tree_of(text) is None:
            raise RecordError(f"test_cases[{number}] is not valid Python: give an assert")
    test = "".join(f"{source}\n" for source in cases)
    passed = (sample for sample in _inferences(fields) if field.optional_number(sample, "pass_rate") == 1)
    return Task(
        task_id=_acecode_id(fields),
        mode=Mode.ASSERT,
        prompt=field.text(fields, "question"),
        entry_point=_function_called(test),
        test=test,
        reference=next((field.text(sample, "completion") for sample in passed), None),
        source=f"AceCode {field.text(fields, 'source')}".strip(),
        metadata=field.without(fields, _ACECODE_TAKEN),
    )


def _read_acecode_samples(fields: Fields) -> Iterator[Rollout]:
    """Every sample of the row, in its order."""
    task_id = _acecode_id(fields)
    for number, sample in enumerate(_inferences(fields)):
        reward = field.optional_number(sample, "pass_rate")
        index = field.optional_whole(sample, "completion_id")
        yield Rollout(
            task_id=task_id,
            completion=field.text(sample, "completion"),
            sample_id=f"{task_id}#{number}",
            sample_index=number if index is None else index,
            model=field.optional_identifier(sample, "model_name"),
            given_reward=reward,
            expected_pass=None if reward is None else reward >= 1,
            recorded_by="AceCode",
        )


def _acecode_id(fields: Fields) -> str:
    return field.optional_identifier(fields, "task_id") or field.identifier(fields, "id")


def _inferences(fields: Fields) -> Iterator[Mapping[str, JsonValue]]:
    samples = fields.get("inferences") or []
    if not isinstance(samples, list) or not all(isinstance(sample, dict) for sample in samples):
        raise RecordError("inferences must be a list of objects with completion and pass_rate")
    yield from samples


def _function_called(test: str) -> str:
    """The function that the asserts call; of several, the one they call most often."""
    try:
        name = entry_point_of(test, "")
    except RecordError:
        tree = syntax.tree_of(test)
        called = Counter(names_called(tree.body if tree else ()))
        name = next((each for each, _ in called.most_common() if each not in dir(builtins)), None)
    if name is None:
        raise RecordError("test_cases call no function, so the entry point is unknown")
    return name


def _claim_leetcode(fields: Fields) -> Claim | None:
    if not {"task_id", "prompt", "completion", "entry_point", "test"} <= fields.keys():
        return None
    asked = {"query", "response"} <= fields.keys()
    if not asked and not str(fields["entry_point"]).startswith(_METHOD_OF):
        return None
    return Claim(3, "prompt, completion, entry_point, test" + (", query, response" if asked else ": Solution()"))


def _read_leetcode(fields: Fields) -> Task:
    """One task. Early versions have the `query` in `meta`; else it is the description and the code to start from."""
    name = field.text(fields, "entry_point").removeprefix(_METHOD_OF)
    parts = [field.text(fields, "problem_description"), field.text(fields, "starter_code")]
    query = field.text(fields, "query") or field.text(field.inner(fields, "meta"), "query")
    return code_task(
        fields,
        required_test(fields),
        _LEETCODE_TAKEN,
        prompt=query or "\n\n".join(part for part in parts if part),
        entry_point=required_name({"entry_point": name}, "entry_point"),
        preamble=field.preamble(fields, field.text(fields, "prompt")),
        reference=field.text(fields, "completion") or None,
        source="LeetCodeDataset",
    )


def _claim_deepseek(fields: Fields) -> Claim | None:
    if not {"task_id", "prompt", "prompt_sft", "test"} <= fields.keys() or "completion" in fields:
        return None
    return Claim(2 if field.first(fields, _DEEPSEEK_TEXTS) else 3, "task_id, prompt, prompt_sft, test")


def _claim_deepseek_sample(fields: Fields) -> Claim | None:
    name = field.first(fields, _DEEPSEEK_TEXTS)
    return Claim(3, f"task_id, prompt_sft, {name}") if name and {"task_id", "prompt_sft"} <= fields.keys() else None


def _read_deepseek(fields: Fields) -> Task:
    """One task. Its prompt is the one that a completion can continue."""
    test = required_test(fields)
    prompt = field.text(fields, "prompt")
    canonical = field.text(fields, "canonical_solution")
    own = str(fields.get("entry_point") or "").rpartition(".")[2]
    called = _METHOD.search(test)
    if not own and called is None:
        raise RecordError("entry_point is missing, and test calls no method of my_solution: name the method to call")
    return code_task(
        fields,
        test,
        _DEEPSEEK_TAKEN,
        prompt=prompt,
        entry_point=required_name({"entry_point": own or (called and called[1])}, "entry_point"),
        preamble=field.preamble(fields, _HEADER + _before_solution(prompt)),
        reference=(canonical if _SOLUTION.search(canonical) else prompt + canonical) if canonical else None,
        source="DeepSeek LeetCode",
    )


def _before_solution(prompt: str) -> str:
    """The code that the prompt has before the class, from its first class, function or import on; "" if none."""
    found = _SOLUTION.search(prompt)
    before = prompt[: found.start()] if found else ""
    tree = syntax.tree_of(before)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Import | ast.ImportFrom):
            return "".join(before.splitlines(keepends=True)[node.lineno - 1 :])
    return ""


def _read_deepseek_sample(fields: Fields) -> Rollout:
    """The sample of one row: what the model wrote, else the code that was taken from it."""
    name = field.first(fields, _DEEPSEEK_TEXTS)
    if name is None:
        raise RecordError("output is missing: add the text that the model wrote")
    grade = of_sample(fields)
    rollout = Rollout(
        task_id=field.identifier(fields, "task_id"),
        completion=field.text(fields, name),
        expected_pass=field.optional_truth(fields, "passed"),
        metadata=field.without(fields, _DEEPSEEK_TAKEN | _OF_DEEPSEEK_TASK),
    )
    return record(rollout, grade and grade._replace(by="DeepSeek-Coder"))


BIGCODEBENCH = Format(
    name="bigcodebench",
    title="BigCodeBench: complete_prompt, code_prompt, test; samples with solution or completion, results of a run",
    claim_task=_claim_bigcodebench,
    read_task=_read_bigcodebench,
    claim_rollout=_claim_bigcodebench_sample,
    read_rollouts=read_samples,
)
CLASSEVAL = Format(
    name="classeval",
    title="ClassEval: skeleton, test, class_name, import_statement; samples in predict",
    claim_task=_claim_classeval,
    read_task=_read_classeval,
    claim_rollout=_claim_classeval_sample,
    read_rollouts=_read_classeval_samples,
)
QUIXBUGS = Format(
    name="quixbugs",
    title="QuixBugs: name, buggy_program, docstring, solution, tests",
    claim_task=claim_by(3, "name, buggy_program, tests"),
    read_task=_read_quixbugs,
)
ACECODE = Format(
    name="acecode",
    title="AceCode: id, question, test_cases of asserts; samples in inferences with pass_rate",
    claim_task=_claim_acecode,
    read_task=_read_acecode,
    claim_rollout=_claim_acecode_samples,
    read_rollouts=_read_acecode_samples,
    read_prompt=lambda fields: field.text(fields, "question"),
)
LEETCODE = Format(
    name="leetcode_dataset",
    title="LeetCodeDataset: prompt, completion, entry_point Solution().name, test, query",
    claim_task=_claim_leetcode,
    read_task=_read_leetcode,
)
DEEPSEEK = Format(
    name="deepseek_leetcode",
    title="DeepSeek-Coder's LeetCode: prompt, prompt_sft, meta, test; samples with output",
    claim_task=_claim_deepseek,
    read_task=_read_deepseek,
    claim_rollout=_claim_deepseek_sample,
    read_rollouts=one_per_row(_read_deepseek_sample),
)
