"""verifiers: its results (`results.jsonl`), and the rollouts of prime-rl that have the same rows.

A row has `example_id` (`id` in older ones), `prompt` and `completion` (text or messages), `answer`, `info`, `reward`,
`metrics` (also at the top of the row), `error`, times and counts. The environment and the model are in the name of the
folder, `<environment>--<model>`; prime-rl's step is in that of its `step_<n>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import JsonValue, RecordError, Rollout, brief

_TAKEN = {
    "example_id", "prompt", "completion", "reward", "env_id", "model", "step", "group_id", "trajectory", "tool_defs",
    "metrics", "error_chain", "long_error_chain",
}  # fmt: skip
_STEP = trainer.step_in(r"(?:^|/)step_(\d{1,18})/")
_MARKS = ("info", "answer", "metrics", "generation_ms", "timing", "task")


def claim_rollout(fields: Fields) -> Claim | None:
    if not {"prompt", "completion", "reward"} <= fields.keys() or "task_id" in fields:
        return None
    mark = next((name for name in _MARKS if name in fields), None)
    if "example_id" in fields:
        return Claim(3, "example_id, prompt, completion, reward")
    return Claim(3, f"id, prompt, completion, reward, {mark}") if mark and "id" in fields else None


def read_rollout(fields: Fields) -> Rollout:
    """One completion. The scale of its reward is the environment's, so it is not a verdict."""
    if fields.get("completion") is None:
        why = _error(fields.get("error"))
        raise RecordError(f"the rollout failed ({why}) and has no completion" if why else "completion is missing")
    prompt = chat.messages_of(fields.get("prompt"), "prompt", "user")
    completion = chat.after_prompt(prompt, chat.messages_of(fields["completion"], "completion", "assistant"))
    metrics = fields.get("metrics")
    numbers = {**metrics, **fields} if isinstance(metrics, Mapping) else fields
    components = trainer.parts(numbers, _TAKEN)
    metadata = trainer.rest(numbers, {*_TAKEN, *_id_field(fields), *components})
    metadata |= chat.turns(prompt, completion)
    if components:
        metadata["reward_components"] = components
    return Rollout(
        task_id=_task_id(fields),
        completion=chat.answer_text(completion),
        model=field.optional_identifier(fields, "model"),
        group=_example(fields),
        step=field.optional_whole(fields, "step"),
        metadata=metadata,
        **trainer.grade("verifiers", trainer.number(fields.get("reward"))),
    )


def read_prompt(fields: Fields) -> str:
    return chat.prompt_text(chat.messages_of(fields.get("prompt"), "prompt", "user"))


def from_name(path: str) -> Fields:
    """The environment and the model of `outputs/evals/<environment>--<model>/<run>/results.jsonl`; prime-rl's step."""
    found = dict(_STEP(path))
    folders = PurePath(path).parts[-3:-1]
    named = next((folder for folder in folders if re.fullmatch(r"[^/]+?--[^/]+", folder)), None)
    if named:
        env, _, model = named.partition("--")
        found |= {"env_id": env, "model": model.replace("--", "/")}
    return found


def _tests(fields: Fields) -> JsonValue:
    return trainer.tests_in(fields.get("info"), fields.get("answer"), dict(fields))


def _id_field(fields: Fields) -> tuple[str, ...]:
    return () if "example_id" in fields else ("id",)


def _example(fields: Fields) -> str | None:
    return field.optional_identifier(fields, next(iter(_id_field(fields)), "example_id"))


def _task_id(fields: Fields) -> str:
    """Its number, which is unique in its environment; made from the prompt where it has none."""
    example, env = _example(fields), field.optional_identifier(fields, "env_id")
    if example is not None:
        return f"{env}/{example}" if env else example
    return field.id_from_prompt(read_prompt(fields))


def _error(error: JsonValue) -> str:
    if isinstance(error, Mapping):
        error = error.get("error_chain_repr") or error.get("message") or error.get("error")
    return brief(error) if error else ""


FORMAT = Format(
    name="verifiers",
    title="verifiers: results, example_id, prompt, completion, reward; older rollouts of prime-rl",
    **trainer.tasks_in_rollouts("verifiers", claim_rollout, _tests, _task_id, read_prompt, "tests in info or answer"),
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    repeats_tasks=True,
    read_prompt=read_prompt,
    from_name=from_name,
)
