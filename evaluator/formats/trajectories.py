"""rllm and AgentFly: the trajectories of their agents.

rllm writes episodes (one JSON file each, or JSON lines) and single trajectories. An episode has `is_correct` and
`trajectories`; each is a rollout with `steps` and a `reward`. Its completion is what the model said in the last step;
its conversation is that of the steps' `chat_completions`.

AgentFly's trajectories are JSON lines, and the files of its local monitor. A trajectory is a row as
`Trajectory.model_dump()` makes it: `segments` (conversations; the last one counts), `reward`, `metrics`, ids, and the
dataset's row in `metadata`. The monitor's `agent-rollout-trajectory.jsonl` has one conversation a line as JSON text,
and `agent-rollout-info.jsonl` beside it the reward and the ids on the same line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.problems import Problem, one_line, snippet_of
from evaluator.formats.registry import Claim, ContainerKind, Fields, Format, Row, one_per_row
from evaluator.model import JsonValue, RecordError, Rollout, brief

_PROMPTS = ("question", "problem", "prompt", "instruction", "query", "text")
_RLLM_IDS = ("id", "task_id", "uid", "problem_id")
_STEP_MARKS = {"chat_completions", "model_response", "observation"}
_EPISODE_TAKEN = {
    "id", "episode_id", "training_step", "step", "task", "trajectories", "is_correct", "steps", "reward", "uid",
    "artifacts", "num_steps",
}  # fmt: skip


def _claim_rllm(fields: Fields) -> Claim | None:
    if "trajectories" in fields and "is_correct" in fields:
        return Claim(3, "trajectories, is_correct")
    first: JsonValue = next(iter(_listed(fields.get("steps"))), None)
    fits = "reward" in fields and "task" in fields and isinstance(first, Mapping)
    return Claim(3, "task, steps, reward") if fits and _STEP_MARKS & first.keys() else None


def _read_rllm(fields: Fields) -> Iterator[Rollout]:
    """One rollout for each trajectory of an episode, or the one of a trajectory. `is_correct` is the episode's."""
    found = fields.get("trajectories", [fields])
    named = list(found.items()) if isinstance(found, Mapping) else [(None, each) for each in _listed(found)]
    if not named:
        raise RecordError(f"the episode has no trajectory ({fields.get('termination_reason')}): collect it again")
    for name, trajectory in named:
        if not isinstance(trajectory, Mapping):
            raise RecordError(f"trajectories must be objects, not {brief(trajectory)}")
        yield _rllm_rollout(trajectory, fields, name)


def _rllm_prompt(fields: Fields) -> str:
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
    return chat.prompt_text(_rllm_conversation(first)[0]) if isinstance(first, Mapping) else ""


def _rllm_rollout(trajectory: Fields, episode: Fields, name: str | None) -> Rollout:
    prompt, completion = _rllm_conversation(trajectory)
    correct = episode.get("is_correct")
    word = f"is_correct={str(correct).lower()}" if isinstance(correct, bool) else None
    group, _, index = (field.optional_identifier(episode, _id_field(episode)) or "").partition(":")
    metadata = trainer.rest(episode, _EPISODE_TAKEN) | {"messages": [*prompt, *completion]}
    trajectory_name = name or trajectory.get("name")
    if episode is not trajectory:
        metadata |= {"trajectory": trajectory_name} if trajectory_name else {}
        components = trainer.parts(field.inner(trajectory, "signals"), ())
        metadata |= {"reward_components": components} if components else {}
    reward = trainer.number(trajectory.get("reward"))
    return Rollout(
        task_id=_rllm_id(episode),
        completion=chat.answer_text(completion),
        sample_index=int(index) if index.isdecimal() and len(index) < 19 else None,
        group=group or None,
        step=field.optional_whole(episode, "training_step" if "training_step" in episode else "step"),
        metadata=metadata,
        **trainer.grade("rllm", reward, correct if word else None, word),
    )


def _rllm_conversation(trajectory: Fields) -> tuple[list[chat.Message], list[chat.Message]]:
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
        shown = seen if isinstance(seen, str) or chat.is_conversation(seen) else brief(seen)
        messages = chat.messages_of(shown, "input", "user")
    if said is not None:
        answer: chat.Message = {"role": "assistant", "content": chat.content_text(said)}
        if isinstance(thought, str) and thought:
            answer["reasoning_content"] = thought
        messages.append(answer)
    return messages


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _place(task: JsonValue) -> Fields:
    """The task's object; its own row may be in `metadata`."""
    return {**field.inner(task, "metadata"), **task} if isinstance(task, Mapping) else {}


def _id_field(episode: Fields) -> str:
    return "episode_id" if "episode_id" in episode else "id"


def _rllm_id(fields: Fields) -> str:
    """The task's own; else made from its prompt, which is the same for all episodes of a task."""
    missing = "the task has neither an id nor a prompt: add an id to task"
    return field.own_id(_place(fields.get("task")), _RLLM_IDS) or field.id_of_prompt(_rllm_prompt(fields), missing)


RLLM = Format(
    name="rllm",
    title="rllm: episodes and trajectories, steps, reward, is_correct",
    **trainer.tasks_in_rollouts(
        "rllm",
        _claim_rllm,
        lambda row: trainer.tests_in(_place(row.get("task"))),
        _rllm_id,
        _rllm_prompt,
        "tests in task",
    ),
    read_rollouts=_read_rllm,
    from_name=trainer.step_in(r"(?:^|/)(?:train|val)_step_(\d{1,18})"),
)


_TRAJECTORY, _INFO = "gent-rollout-trajectory.jsonl", "gent-rollout-info.jsonl"
"""After an `a`, a capital in older versions."""
_EVENT = "agent/rollout/trajectory"
_MONITOR_TAKEN = {"kind", "name", "value", "sinks", "x", "x_name", "commit", "tags", "info", "step"}
_AGENTFLY_TAKEN = {"segments", "reward", "group_id", "chain_id", "step", "model", "metrics"}
_AGENTFLY_IDS = ("task_id", "id", "problem_id", "question_id")
_MARKS = {"chain_id", "group_id", "finish_reason", "segment_rewards"}
_LONGEST_LINE = 32 * 1024 * 1024


def _claim_agentfly(fields: Fields) -> Claim | None:
    if "value" in fields and str(fields.get("name")).lower() == _EVENT:
        return Claim(3, f"name {_EVENT}, value")
    return Claim(3, "segments, reward, chain_id") if "segments" in fields and _MARKS & fields.keys() else None


def _read_agentfly(fields: Fields) -> Rollout:
    """One trajectory. Its completion is the model's last message in its last segment."""
    trajectory = _trajectory(fields)
    prompt, completion = _agentfly_conversation(trajectory)
    reward, extras = _reward(trajectory)
    metadata = trainer.rest(trajectory, _AGENTFLY_TAKEN) | {"messages": [*prompt, *completion]}
    if trajectory is not fields:
        metadata |= trainer.rest(fields, _MONITOR_TAKEN)
    metadata |= {"metrics": extras} if extras else {}
    return trainer.rollout(
        "AgentFly",
        completion,
        metadata,
        reward,
        components=trainer.parts(extras, ()),
        task_id=_agentfly_id(fields),
        sample_id=field.optional_identifier(trajectory, "chain_id") or "",
        model=field.optional_identifier(trajectory, "model"),
        group=field.optional_identifier(trajectory, "group_id"),
        step=field.optional_whole({"step": fields.get("x", fields.get("step"))}, "step"),
    )


def _agentfly_prompt(fields: Fields) -> str:
    return chat.prompt_text(_agentfly_conversation(_trajectory(fields))[0])


def monitor_rows(path: Path) -> Iterator[Row | Problem]:
    """The lines of the monitor's trajectories, each with the `info` on the same line of the file beside it."""
    beside = path.with_name(path.name.removesuffix(_TRAJECTORY) + _INFO)
    with ExitStack() as files:
        trajectories = files.enter_context(path.open("rb"))
        infos = _lines(files.enter_context(beside.open("rb"))) if beside.is_file() else iter(())
        for number, line in enumerate(_lines(trajectories), start=1):
            yield _row(one_line(str(path)), number, line, next(infos, None))


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines; of one that is too long, as much as is allowed, which is then no JSON."""
    while line := file.readline(_LONGEST_LINE):
        yield line
        while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(_LONGEST_LINE)


def _row(path: str, number: int, line: bytes, info: bytes | None) -> Row | Problem:
    try:
        value = decode_json(line)
        beside = decode_json(info) if info else None
    except JsonError as error:
        return Problem(path, number, str(error), snippet_of(line))
    if not isinstance(value, dict):
        return Problem(path, number, "the row must be a JSON object: it is skipped", snippet_of(line))
    return Row(number, {**value, "info": beside} if beside else value)


def _trajectory(fields: Fields) -> Fields:
    """The trajectory itself, of either kind of row."""
    if "segments" in fields:
        return fields
    segments = field.unpacked(fields, "value")
    found = {"value": field.unpacked(field.inner(fields, "info"), "value")}
    return {**field.inner(found, "value"), "segments": segments}


def _agentfly_conversation(trajectory: Fields) -> tuple[list[chat.Message], list[chat.Message]]:
    segments = trajectory.get("segments")
    if not isinstance(segments, list) or not segments:
        raise RecordError(f"segments must be a list of conversations, not {brief(segments)}")
    last = segments if chat.is_conversation(segments) else segments[-1]
    messages = chat.messages_of(last, "segments[-1]", "user")
    first = messages if last is segments else chat.messages_of(segments[0], "segments[0]", "user")
    asked = chat.split_at_answer(first)[0]
    return asked, chat.after_prompt(asked, messages)


def _reward(trajectory: Fields) -> tuple[float | None, dict[str, JsonValue]]:
    """The reward, which the monitor has in an object with what else the reward function returned."""
    reward, extras = trajectory.get("reward"), dict(field.inner(trajectory, "metrics"))
    if isinstance(reward, Mapping):
        return trainer.number(reward.get("reward")), extras | dict(field.inner(reward, "extras"))
    return trainer.number(reward), extras


def _agentfly_tests(fields: Fields) -> JsonValue:
    trajectory = _trajectory(fields)
    return trainer.tests_in(trajectory.get("metadata"), {**trajectory, "segments": None})


def _agentfly_id(fields: Fields) -> str:
    """The dataset's, which is in the metadata or, in the monitor's files, beside it; else made from the prompt."""
    trajectory = _trajectory(fields)
    known = {**trajectory, **field.inner(trajectory, "metadata")}
    missing = "the trajectory has neither an id nor a prompt: add a task_id to its metadata"
    return field.own_id(known, _AGENTFLY_IDS) or field.id_of_prompt(_agentfly_prompt(fields), missing)


AGENTFLY = Format(
    name="agentfly",
    title="AgentFly: trajectories, segments, reward, chain_id; the monitor's files",
    **trainer.tasks_in_rollouts(
        "AgentFly", _claim_agentfly, _agentfly_tests, _agentfly_id, _agentfly_prompt, "tests in metadata"
    ),
    read_rollouts=one_per_row(_read_agentfly),
)
CONTAINER = ContainerKind(
    name="AgentFly's monitor",
    claims=lambda head, name: name.endswith(_TRAJECTORY) and head.lstrip().startswith(b"{"),
    open=monitor_rows,
)
