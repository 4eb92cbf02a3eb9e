"""TRL: the completions that its GRPO and RLOO trainers log (`completions_<step>.parquet`, or a table's JSON lines).

A row has `step`, `prompt`, `completion` (both text or messages), one column of each reward function, columns that a
reward function logged itself, and `advantage`. The reward functions' are the columns of numbers right after the
completion. The file does not have their weights: the reward is their sum, TRL's default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import JsonValue, RecordError, Rollout, Verdict

_OWN = ("step", "prompt", "completion", "advantage")
_IDS = ("task_id", "problem_id")
_TOTALS = ("reward", "rewards", "total_reward")


def claim_rollout(fields: Fields) -> Claim | None:
    if not {"step", "prompt", "completion"} <= fields.keys() or "task_id" in fields:
        return None
    if "advantage" in fields:
        return Claim(3, "step, prompt, completion, advantage")
    return Claim(2, "step, prompt, completion, rewards") if _rewards(fields) else None


def read_rollout(fields: Fields) -> Rollout:
    """One completion. A reward function that gave no reward is left out."""
    if fields.get("completion") is None:
        raise RecordError("completion is missing: add the text or the messages that the model wrote")
    prompt = chat.messages_of(fields.get("prompt"), "prompt", "user")
    completion = chat.after_prompt(prompt, chat.messages_of(fields["completion"], "completion", "assistant"))
    rewards = _rewards(fields)
    components = {name: value for name, value in rewards.items() if name not in _TOTALS}
    metadata = trainer.rest(fields, {"prompt", "completion", "step", "model", *_IDS, *rewards})
    metadata |= chat.turns(prompt, completion)
    if len(rewards) > 1:
        metadata["reward_components"] = components
    return trainer.rollout(
        "TRL",
        completion,
        metadata,
        _total(rewards),
        *_verdict(fields),
        task_id=_task_id(fields),
        model=field.optional_identifier(fields, "model"),
        step=field.optional_whole(fields, "step"),
    )


def read_prompt(fields: Fields) -> str:
    return chat.prompt_text(chat.messages_of(fields.get("prompt"), "prompt", "user"))


def _rewards(fields: Fields) -> Mapping[str, float]:
    """Each reward function's reward, in the file's order."""
    found: dict[str, float] = {}
    for name, value in fields.items():
        if name in _OWN or name in _IDS:
            continue
        if value is not None and not isinstance(value, float) and name not in _TOTALS:
            break
        given = trainer.number(value)
        if given is not None and math.isfinite(given):
            found[name] = given
    return found


def _total(rewards: Mapping[str, float]) -> float | None:
    named = next((rewards[name] for name in _TOTALS if name in rewards), None)
    return named if named is not None else math.fsum(rewards.values()) if rewards else None


def _verdict(fields: Fields) -> tuple[Verdict | None, str | None]:
    """What our own reward function logged, the first if there are several."""
    logged = (value for name, value in fields.items() if name.endswith("/verdict") and isinstance(value, str))
    word = next((value for value in logged if value in set(Verdict)), None)
    return (Verdict(word), word) if word else (None, None)


def _tests(fields: Fields) -> JsonValue:
    """Those that a reward function logged."""
    return trainer.tests_in(dict(fields))


def _task_id(fields: Fields) -> str:
    missing = "prompt is missing: add it, since it identifies the task"
    return field.own_id(fields, _IDS) or field.id_of_prompt(read_prompt(fields), missing)


FORMAT = Format(
    name="trl",
    title="TRL: logged completions, step, prompt, completion, rewards, advantage",
    **trainer.tasks_in_rollouts(
        "TRL", claim_rollout, _tests, _task_id, read_prompt, "step, prompt, completion and a column of tests"
    ),
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    repeats_tasks=True,
    read_prompt=read_prompt,
    from_name=trainer.step_in(r"completions_(\d{1,18})\.[a-z]+"),
)
