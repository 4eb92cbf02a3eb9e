"""The rows that RL trainers learn from: verl and SkyRL, open-instruct's RLVR, DeepCoder, rStar-Coder, KodCode.

Tests have any of the shapes of `tests_alone`. A row of maths has an answer instead. Which part of a completion is its
answer depends on what the prompt asks for: where that is none of `_MARKS`, or where a model is to judge, the row has no
`answer` here, so that no right completion is called wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import test_code
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Rollouts, Tasks, claims, taken
from evaluator.formats.tests_alone import task_from
from evaluator.model import JsonValue, Mode, RecordError, Task

_MARKS: Mapping[str, JsonValue] = {
    "####": {"name": "exact_match", "marker": "####", "numbers": True},
    "\\boxed": {"name": "exact_match", "extract": "boxed", "numbers": True},
    "Answer:": {"name": "exact_match", "marker": "Answer:", "numbers": True},
}
"""What a prompt asks to put before the answer, or around it, and the grader that finds it there."""
_IDS = "task_id|problem_id|question_id|id|"


def _answered(task_id: str, prompt: str, answer: JsonValue) -> Task:
    grader = next((grader for mark, grader in _MARKS.items() if mark in prompt), None)
    if grader is None or not _is_answer(answer):
        return Task(task_id=task_id, mode=Mode.ANSWER, metadata={"ground_truth": answer})
    return Task.from_row({"task_id": task_id, "answer": answer, "grader": grader})


def _is_answer(value: JsonValue) -> bool:
    values = value if isinstance(value, list) and value else [value]
    return all(isinstance(each, str | int | float) for each in values)


def _truth(fields: Fields) -> Fields:
    """verl's `reward_model`, which SkyRL calls `reward_spec`."""
    both = (
        field.optional_object(fields, name, '{"ground_truth": ...}') or {} for name in ("reward_model", "reward_spec")
    )
    return next((each for each in both if each.get("ground_truth") is not None), {})


def _read_verl(fields: Fields) -> Task:
    """A row of code has tests; any other an answer, if a rule and no model decides."""
    about, truth = _VERL_ROLLOUTS, _truth(fields)
    given = truth.get("ground_truth")
    if given is None:
        raise RecordError("reward_model.ground_truth is missing: add the tests or the answer")
    task_id, prompt = about.task_id_of(fields), about.prompt_of(fields)
    if trainer.tests_in(given) is not None or fields.get("ability") == "code":
        task = task_from(given, task_id)
    else:
        task = _answered(task_id, prompt, None if truth.get("style") == "model" else given)
    task.prompt, task.source = prompt, field.text(fields, "data_source")
    task.metadata |= field.kept(fields, {"prompt", "data_source", "reward_model", "reward_spec", "responses"})
    return task


def _verl_id(fields: Fields) -> JsonValue:
    """The row's own or one in `extra_info`, whose `index` is not unique: each data source counts from 0."""
    own = taken(fields, _IDS)
    return taken(field.inner(fields, "extra_info"), _IDS) if own is None else own


_NAMED = "data_source+ability+extra_info"
_VERL_ROLLOUTS = Rollouts(
    claim=claims("3: prompt, reward_model:object, responses:list"),
    each="responses",
    task_id=_verl_id,
    left_out="reward_model, data_source, ability",
)
VERL_DATASET = Format(
    name="verl_dataset",
    title="verl, SkyRL: tasks with prompt, reward_model or reward_spec, data_source; with responses",
    tasks=Tasks(
        claim=claims(
            f"3: prompt, reward_model:object, {_NAMED}, !responses; 3: prompt, reward_spec:object; "
            f"2: prompt, reward_model:object, responses:list"
        ),
        code=_read_verl,
    ),
    rollouts=_VERL_ROLLOUTS,
)


def _read_rlvr(fields: Fields) -> Task:
    """Newer files have lists of one dataset and one ground truth."""
    dataset, given = _only(fields.get("dataset")), _only(fields.get("ground_truth"))
    task_id, prompt = _RLVR_PROMPT.task_id_of(fields), _RLVR_PROMPT.prompt_of(fields)
    if given is None:
        raise RecordError("ground_truth is missing: add the tests or the answer")
    is_code = "code" in str(dataset).lower()
    task = task_from(given, task_id) if is_code else _answered(task_id, prompt, given)
    task.prompt, task.source = prompt, str(dataset)
    task.metadata |= field.kept(fields, {"messages", "ground_truth", "dataset", *_IDS.split("|")})
    return task


def _only(value: JsonValue) -> JsonValue:
    """Of a list of one its element, unless that is an assert: a list of asserts is the tests."""
    is_one = isinstance(value, list) and len(value) == 1 and not str(value[0]).lstrip().startswith("assert")
    return value[0] if is_one else value


_RLVR_PROMPT = Rollouts(prompt="messages", task_id=_IDS)
OPEN_INSTRUCT = Format(
    name="open_instruct",
    title="open-instruct, RLVR: tasks with messages, ground_truth, dataset",
    tasks=Tasks(claim=claims("3: messages:list, ground_truth, dataset"), code=_read_rlvr),
)


def _first_solution(fields: Fields) -> str | None:
    """Some have a list, some put a fence around each."""
    given = taken(fields, "solutions|solution")
    first = given[0] if isinstance(given, list) and given else given
    return trainer.without_fence(first) if isinstance(first, str) and first else None


def _read_deepcoder(fields: Fields) -> Task:
    task = task_from(taken(fields, "tests|test_cases"), _DEEPCODER_PROMPT.task_id_of(fields))
    task.prompt, task.source = _DEEPCODER_PROMPT.prompt_of(fields), field.text(fields, "dataset") or "DeepCoder"
    starter = field.text(fields, "starter_code")
    task.prompt += f"\n\n{starter}" if starter and starter not in task.prompt else ""
    task.reference = _first_solution(fields)
    taken_out = {"problem", "tests", "test_cases", "solutions", "solution", "dataset", "starter_code", *_IDS.split("|")}
    task.metadata = field.kept(fields, taken_out)
    return task


_DEEPCODER_PROMPT = Rollouts(prompt="problem", task_id=_IDS)
DEEPCODER = Format(
    name="deepcoder",
    title="DeepCoder, rllm, OpenThoughts: tasks with problem, tests or test_cases, solutions",
    tasks=Tasks(claim=claims("3: problem, tests|test_cases, !completion, !response"), code=_read_deepcoder),
)


def _rstar_tests(fields: Fields) -> Mapping[str, JsonValue]:
    inputs, outputs = field.unpacked(fields, "inputs"), field.unpacked(fields, "outputs")
    return {"inputs": inputs, "outputs": outputs, "fn_name": field.text(fields, "func_name") or None}


RSTAR = Format(
    name="rstar_coder",
    title="rStar-Coder: tasks with question, inputs, outputs, func_name",
    tasks=Tasks(
        claim=claims("3: question, inputs, outputs, func_name+is_synthesized+test_case_type"),
        task_id="question_id|task_id|id|",
        prompt=lambda fields: "\n\n".join(
            filter(None, (field.text(fields, "question"), field.text(fields, "starter_code")))
        ),
        in_outs=_rstar_tests,
        source="rStar-Coder",
        left_out="question, inputs, outputs, func_name, starter_code, is_synthesized, test_case_type",
    ),
)


_IMPORTED = re.compile(r"^\s*from[ \t]+solution[ \t]+import[ \t]+\(?\s*(\w+)", re.MULTILINE)


def _kodcode_function(fields: Fields) -> JsonValue:
    """The one that the row names, else the first that the test imports."""
    own = taken(fields, "test_entry_point")
    named = (info.get("function_name") for info in _listed(fields, "test_info") if isinstance(info, Mapping))
    found = _IMPORTED.search(field.text({"test": taken(fields, "test|test_code")}, "test"))
    return own or next(named, None) or (found[1] if found else None)


def _listed(fields: Fields, name: str) -> Iterator[JsonValue]:
    value = field.unpacked(fields, name)
    yield from value if isinstance(value, list) else ()


KODCODE = Format(
    name="kodcode",
    title="KodCode: tasks with question, solution, test (of pytest), test_info",
    tasks=Tasks(
        claim=claims("3: question, test|test_code, test_info|gpt_difficulty|gpt_pass_percentage"),
        task_id="question_id|conversation_id|task_id|id|",
        prompt="question",
        entry_point=_kodcode_function,
        test=lambda fields: test_code("test" if "test" in fields else "test_code")(fields),
        reference="solution",
        source=lambda fields: f"KodCode {field.text(fields, 'subset')}".strip(),
        left_out="test, test_code, test_info, test_entry_point, subset, trials",
    ),
)
