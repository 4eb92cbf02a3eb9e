"""Prompt, completion and reward under the names that trainers give them, where no format of one trainer fits.

OpenRLHF, AReaL and SkyRL write such rows; so do tables that were logged to W&B, exported as JSON or CSV. ART's
trajectories have a reward and a conversation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format, step_in
from evaluator.formats.reading.spec import Rollouts, Said, any_of, claims, taken
from evaluator.model import JsonValue

_PROMPTS = "prompt|input|input_prompt|question|problem|query|instruction"
_COMPLETIONS = "completion|response|output|output_response|generation|generated_text"
_REWARDS = "reward|score|rewards|total_reward"
_STEPS = "step|global_step|training_step|train_step|tail_version|iteration"


def _reward(fields: Fields) -> float | None:
    """SkyRL may have one a token, whose sum counts."""
    found = taken(fields, _REWARDS)
    if isinstance(found, list):
        parts = [field.number(each) for each in found]
        return math.fsum(each for each in parts if each is not None) if parts and None not in parts else None
    return field.number(field.number_in(found))


def _tests(fields: Fields) -> JsonValue:
    return trainer.tests_in(field.inner(fields, "env_extras").get("reward_spec"), dict(fields))


_NAMED = f"{_PROMPTS}, {_COMPLETIONS}, {_REWARDS}"
_SAMPLES = Rollouts(
    claim=claims(
        "3: input_prompt, output_response; 3: head_version, tail_version, completion; "
        f"2: input, output, reward; 1: {_NAMED}"
    ),
    completion=_COMPLETIONS,
    prompt=_PROMPTS,
    task_id="qid|problem_id|question_id|",
    sample_id="",
    sample_index="sample_idx|sample_index",
    group="group|group_id|uid|task_id",
    step=_STEPS,
    reward=_reward,
    parts=lambda fields: trainer.parts(fields, _REWARDS.split("|")),
    by="the trainer",
    left_out=_REWARDS.replace("|", ", "),
)
FORMAT = Format(
    name="trainer_samples",
    title="OpenRLHF, AReaL, SkyRL, W&B tables: prompt, completion and reward by their usual names",
    tasks=trainer.tasks_in(_SAMPLES, _tests, "prompt, completion, reward and tests"),
    rollouts=_SAMPLES,
    from_name=step_in(r"(?:^|/)global_step_(\d{1,18})"),
)


def _trajectories(fields: Fields) -> Iterator[Fields]:
    """Of a group, each with the group's metadata."""
    outer = field.inner(fields, "metadata")
    for each in trainer.objects(fields.get("trajectories", [fields]), "trajectories"):
        yield {**outer, **field.without(each, {"metadata"}), **field.inner(each, "metadata")}


def _art_said(trajectory: Fields) -> Said:
    """A choice of the API has its message inside."""
    name = "messages_and_choices" if "messages_and_choices" in trajectory else "messages"
    given = trajectory.get(name)
    items = [each.get("message", each) if isinstance(each, Mapping) else each for each in given or ()]
    return chat.split_at_answer(chat.messages_of(items, name, "user"))


def _has_choices(fields: Fields) -> bool:
    first = next(iter(fields["trajectories"]), None)
    return isinstance(first, Mapping) and "messages_and_choices" in first


ART = Format(
    name="art",
    title="ART: trajectories with messages_and_choices, reward, metrics",
    rollouts=Rollouts(
        claim=any_of(
            claims(
                "3: messages_and_choices:list, reward; 2: messages:list, reward, metrics:object; "
                "1: messages:list, reward"
            ),
            claims("3: trajectories:list, (with messages_and_choices)", _has_choices),
        ),
        each=_trajectories,
        said=_art_said,
        all_turns=True,
        prompt="",
        task_id="task_id|scenario_id|id|",
        reward="reward",
        parts=lambda row: trainer.parts(field.inner(row, "metrics")),
        by="ART",
        left_out="messages_and_choices, messages, reward",
    ),
    from_name=step_in(r"(?:^|/)(\d{1,18})\.jsonl"),
)
