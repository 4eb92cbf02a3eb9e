"""rllm: its episodes (one JSON file each, or JSON lines) and single trajectories.

An episode has `is_correct` and `trajectories`; each is a rollout with `steps` and a `reward`. Its completion is what
the model said in the last step; its conversation is that of the steps' `chat_completions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import JsonValue, RecordError, Rollout, brief

_PROMPTS = ("question", "problem", "prompt", "instruction", "query", "text")
_IDS = ("id", "task_id", "uid", "problem_id")
_EPISODE_TAKEN = {
    "id", "episode_id", "training_step", "step", "task", "trajectories", "is_correct", "steps", "reward", "uid",
    "artifacts", "num_steps",
}  # fmt: skip


def claim_rollout(fields: Fields) -> Claim | None:
    if "trajectories" in fields and "is_correct" in fields:
        return Claim(3, "trajectories, is_correct")
    steps = fields.get("steps")
    first = steps[0] if isinstance(steps, list) and steps else None
    fits = "reward" in fields and "task" in fields and isinstance(first, Mapping)
    return Claim(3, "task, steps, reward") if fits and _turn_fields(first) else None


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """One rollout for each trajectory of an episode, or the one of a trajectory. `is_correct` is the episode's."""
    found = fields.get("trajectories", [fields])
    named = list(found.items()) if isinstance(found, Mapping) else [(None, each) for each in _listed(found)]
    if not named:
        raise RecordError(f"the episode has no trajectory ({fields.get('termination_reason')}): collect it again")
    for name, trajectory in named:
        if not isinstance(trajectory, Mapping):
            raise RecordError(f"trajectories must be objects, not {brief(trajectory)}")
        yield _rollout(trajectory, fields, name)


def read_prompt(fields: Fields) -> str:
    """The task's text, else what the model saw first."""
    task = fields.get("task")
    if isinstance(task, str) and task:
        return task
    place = _place(task)
    for name in _PROMPTS:
        if place.get(name):
            return chat.prompt_text(chat.messages_of(place[name], f"task.{name}", "user"))
    trajectories = fields.get("trajectories", [fields])
    listed = list(trajectories.values()) if isinstance(trajectories, Mapping) else _listed(trajectories)
    first = listed[0] if listed else None
    return chat.prompt_text(_conversation(first)[0]) if isinstance(first, Mapping) else ""


def _rollout(trajectory: Fields, episode: Fields, name: str | None) -> Rollout:
    prompt, completion = _conversation(trajectory)
    correct = episode.get("is_correct")
    word = f"is_correct={str(correct).lower()}" if isinstance(correct, bool) else None
    group, _, index = (field.optional_identifier(episode, _id_field(episode)) or "").partition(":")
    metadata = trainer.rest(episode, _EPISODE_TAKEN) | {"messages": [*prompt, *completion]}
    trajectory_name = name or trajectory.get("name")
    if episode is not trajectory:
        metadata |= {"trajectory": trajectory_name} if trajectory_name else {}
        signals = trajectory.get("signals")
        components = trainer.parts(signals, ()) if isinstance(signals, Mapping) else {}
        metadata |= {"reward_components": components} if components else {}
    reward = trainer.number(trajectory.get("reward"))
    return Rollout(
        task_id=_task_id(episode),
        completion=chat.answer_text(completion),
        sample_index=int(index) if index.isdecimal() and len(index) < 19 else None,
        group=group or None,
        step=field.optional_whole(episode, "training_step" if "training_step" in episode else "step"),
        metadata=metadata,
        **trainer.grade("rllm", reward, correct if word else None, word),
    )


def _conversation(trajectory: Fields) -> tuple[list[chat.Message], list[chat.Message]]:
    """All that was said: the last step's messages if they repeat the earlier ones, else those of all steps."""
    said: list[chat.Message] = []
    steps = [step for step in _listed(trajectory.get("steps")) if isinstance(step, Mapping)]
    for step in steps:
        messages = chat.messages_of(step.get("chat_completions") or None, "chat_completions", "user") or _turn(step)
        said = [*said, *chat.after_prompt(said, messages)]
    output = trajectory.get("output")
    if not said and isinstance(output, str) and output:
        said = [{"role": "assistant", "content": output}]
    prompt, completion = chat.split_at_answer(said)
    if not completion:
        raise RecordError("the trajectory has no step in which the model said something: collect it again")
    return prompt, completion


def _turn(step: Fields) -> list[chat.Message]:
    """A step that has no messages: what the model saw, and what it said."""
    seen = step.get("observation") if step.get("observation") is not None else step.get("input")
    said = step.get("model_response") or step.get("output") or step.get("action")
    thought = step.get("thought")
    messages: list[chat.Message] = []
    if seen is not None:
        text = seen if isinstance(seen, str) else brief(seen)
        messages = chat.messages_of(seen, "input", "user") if chat.is_conversation(seen) else [_said("user", text)]
    if said is not None:
        answer = _said("assistant", said if isinstance(said, str) else chat.content_text(said))
        if isinstance(thought, str) and thought:
            answer["reasoning_content"] = thought
        messages.append(answer)
    return messages


def _said(role: str, text: str) -> chat.Message:
    return {"role": role, "content": text}


def _turn_fields(step: JsonValue) -> bool:
    return isinstance(step, Mapping) and bool({"chat_completions", "model_response", "observation"} & step.keys())


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _place(task: JsonValue) -> Fields:
    """The task's object; its own row may be in `metadata`."""
    if not isinstance(task, Mapping):
        return {}
    inner = task.get("metadata")
    return {**inner, **task} if isinstance(inner, Mapping) else task


def _tests(fields: Fields) -> JsonValue:
    return trainer.tests_in(_place(fields.get("task")))


def _id_field(episode: Fields) -> str:
    return "episode_id" if "episode_id" in episode else "id"


def _task_id(fields: Fields) -> str:
    """The task's own; else made from its prompt, which is the same for all episodes of a task."""
    missing = "the task has neither an id nor a prompt: add an id to task"
    return field.own_id(_place(fields.get("task")), _IDS) or field.id_of_prompt(read_prompt(fields), missing)


FORMAT = Format(
    name="rllm",
    title="rllm: episodes and trajectories, steps, reward, is_correct",
    **trainer.tasks_in_rollouts("rllm", claim_rollout, _tests, _task_id, read_prompt, "tests in task"),
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
    repeats_tasks=True,
    read_prompt=read_prompt,
    from_name=trainer.step_in(r"(?:^|/)(?:train|val)_step_(\d{1,18})"),
)
