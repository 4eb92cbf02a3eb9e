"""verl: what its trainers dump of each step, in `rollout_data_dir` and `validation_data_dir`, as `<step>.jsonl`.

A row has the decoded `input` and `output`, `gts` (the ground truth), `score`, `step`, and what else the reward function
returned, such as `acc`. Special tokens were dropped on decoding. A row without an id gets one made from its input. If
`gts` is tests, each row includes its task.
"""

from __future__ import annotations

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import JsonValue, RecordError, Rollout, Verdict

_TAKEN = {"input", "output", "gts", "score", "step", "uid", "model"}


def claim_rollout(fields: Fields) -> Claim | None:
    if not {"input", "output", "score"} <= fields.keys():
        return None
    return Claim(3, "input, output, gts, score") if "gts" in fields else Claim(2, "input, output, score")


def read_rollout(fields: Fields) -> Rollout:
    """One response. It passed if `acc` is 1, or as our own reward function's `verdict` says."""
    if not isinstance(fields.get("output"), str):
        raise RecordError("output is missing: add the text that the model wrote")
    score = trainer.number(fields.get("score"))
    again = trainer.number(fields.get("reward")) == score
    components = trainer.parts(fields, {"score", "reward"} if again else {"score"})
    metadata = trainer.rest(fields, {*_TAKEN, *components, *(("reward",) if again else ())})
    if trainer.tests_in(fields.get("gts")) is None and fields.get("gts") is not None:
        metadata["gts"] = fields["gts"]
    if components:
        metadata["reward_components"] = components
    return Rollout(
        task_id=_task_id(fields),
        completion=field.text(fields, "output"),
        model=field.optional_identifier(fields, "model"),
        group=field.optional_identifier(fields, "uid"),
        step=field.optional_whole(fields, "step"),
        metadata=metadata,
        **trainer.grade("verl", score, *_passed(fields)),
    )


def _passed(fields: Fields) -> tuple[bool | Verdict | None, str | None]:
    word = fields.get("verdict")
    if isinstance(word, str) and word in set(Verdict):
        return Verdict(word), word
    acc: JsonValue = fields.get("acc")
    share = trainer.number(acc)
    if share is None or not 0 <= share <= 1:
        return None, None
    return share == 1, f"acc={acc}"


def _prompt(fields: Fields) -> str:
    return field.text(fields, "input")


def _task_id(fields: Fields) -> str:
    return field.id_of_prompt(_prompt(fields), "input is missing: add the prompt, which identifies the task")


FORMAT = Format(
    name="verl",
    title="verl: rollout and validation dumps, input, output, gts, score",
    **trainer.tasks_in_rollouts(
        "verl", claim_rollout, lambda row: trainer.tests_in(row.get("gts")), _task_id, _prompt, "gts with tests"
    ),
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    repeats_tasks=True,
    read_prompt=_prompt,
    from_name=trainer.step_in(r"(?:^|/)(\d{1,18})\.jsonl"),
)
