"""ClassEval: tasks with `skeleton`, `test`, `class_name`, `import_statement`; its generated rows are task rows with
`predict`, a list of samples.

A completion is the whole class, as a program or in a chat answer. If a sample repeats its prompt, the completion is
what follows the prompt's `### Response:`. ClassEval puts the lines of `import_statement` before every completion, so
they are the preamble. Its tests create the files they need.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats import fields as field
from evaluator.formats._code_fields import mode_of_test, required_name, required_test
from evaluator.formats._samples import read_sample
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import RecordError, Rollout, Task

_TAKEN = {"task_id", "skeleton", "test", "solution_code", "import_statement", "class_name"}
_END_OF_PROMPT = "### Response:"
_OF_TASK = {
    *_TAKEN, "class_description", "methods_info", "test_classes", "class_constructor", "fields", "predict",
}  # fmt: skip


def claim_task(fields: Fields) -> Claim | None:
    if not {"task_id", "skeleton", "test", "class_name"} <= fields.keys():
        return None
    return Claim(2 if "predict" in fields else 3, "task_id, skeleton, test, class_name")


def claim_rollout(fields: Fields) -> Claim | None:
    if "predict" in fields and "task_id" in fields:
        return Claim(3 if "class_name" in fields else 2, "task_id, predict")
    ours = str(fields.get("task_id")).startswith("ClassEval_")
    text = next((name for name in ("completion", "solution") if name in fields), None)
    return Claim(3, f"task_id {fields['task_id']!r}, {text}") if ours and text else None


def read_task(fields: Fields) -> Task:
    """One task, of mode unittest; its entry point is the class."""
    test = required_test(fields)
    return Task(
        task_id=field.identifier(fields, "task_id"),
        mode=mode_of_test(test),
        prompt=field.text(fields, "skeleton"),
        entry_point=required_name(fields, "class_name"),
        test=test,
        preamble="".join(f"{line}\n" for line in field.strings(fields, "import_statement")),
        reference=field.text(fields, "solution_code") or None,
        source="ClassEval",
        metadata=field.without(fields, _TAKEN | {"predict"}),
    )


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The samples of one row, in the order of `predict`; a row without it has one sample."""
    if "predict" not in fields:
        yield read_sample(fields)
        return
    task_id = field.identifier(fields, "task_id")
    samples = fields["predict"]
    if not isinstance(samples, list) or not all(isinstance(sample, str) for sample in samples):
        raise RecordError("predict must be a list of strings, one per sample")
    metadata = field.without(fields, _OF_TASK)
    for index, sample in enumerate(samples):
        completion = sample.partition(_END_OF_PROMPT)[2] or sample
        yield Rollout(task_id=task_id, completion=completion, sample_index=index, metadata=metadata)


FORMAT = Format(
    name="classeval",
    title="ClassEval: skeleton, test, class_name, import_statement; samples in predict",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
)
