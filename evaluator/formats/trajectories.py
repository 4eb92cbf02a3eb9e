"""rllm and AgentFly: the trajectories of their agents.

An episode of rllm is a file or a line, and each of its `trajectories` a rollout; `is_correct` is the episode's. A
trajectory's conversation is that of its steps. An AgentFly trajectory has `segments` (conversations; the last one
counts). AgentFly's monitor writes one conversation a line as JSON text (`agent-rollout-trajectory.jsonl`), and the
reward and the ids on the same line of the file beside it (`agent-rollout-info.jsonl`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.formats.reading.problems import Problem, one_line, refuse_all, snippet_of
from evaluator.formats.reading.registry import ContainerKind, Format, Row, step_in
from evaluator.formats.reading.spec import Recorded, Rollouts, Said, any_of, claims, taken, truth
from evaluator.model import JsonValue, RecordError, brief

_STEP_MARKS = {"chat_completions", "model_response", "observation"}


def _is_trajectory(fields: Fields) -> bool:
    first = next(iter(fields["steps"]), None)
    return isinstance(first, Mapping) and not first.keys().isdisjoint(_STEP_MARKS)


def _trajectories(fields: Fields) -> Iterator[Fields]:
    """The episode's fields for each of its trajectories, with that as `trajectory`; or those of a trajectory alone."""
    found = fields.get("trajectories", [fields])
    named = list(found.items()) if isinstance(found, Mapping) else [(None, each) for each in _listed(found)]
    if not named:
        raise RecordError(f"the episode has no trajectory ({fields.get('termination_reason')}): collect it again")
    wrong: list[JsonValue] = []
    for name, trajectory in named:
        if not isinstance(trajectory, Mapping):
            wrong.append(trajectory)
            continue
        name_of = None if trajectory is fields else name or trajectory.get("name")
        yield {**fields, "trajectory": name_of, "own": trajectory}
    refuse_all(RecordError(f"trajectories must be objects, not {brief(each)}") for each in wrong)


def _rllm_prompt(fields: Fields) -> str:
    """The task's text, else what the model saw first."""
    task = fields.get("task")
    asked = (
        task
        if isinstance(task, str) and task
        else taken(_task(fields), "question|problem|prompt|instruction|query|text")
    )
    if asked:
        return chat.text_of(asked, "task")
    first = next(_trajectories(fields), None)
    return chat.prompt_text(_rllm_said(first)[0]) if first else ""


def _rllm_said(row: Fields) -> Said:
    """All that was said: the last step's messages if they repeat the earlier ones, else those of all steps."""
    trajectory = row["own"]
    said: list[chat.Message] = []
    for step in (step for step in _listed(trajectory.get("steps")) if isinstance(step, Mapping)):
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
    seen, said = taken(step, "observation|input"), taken(step, "model_response|output|action")
    messages: list[chat.Message] = []
    if seen is not None:
        shown = seen if isinstance(seen, str) or chat.is_conversation(seen) else brief(seen)
        messages = chat.messages_of(shown, "input", "user")
    if said is not None:
        answer: chat.Message = {"role": "assistant", "content": chat.content_text(said)}
        if isinstance(step.get("thought"), str) and step["thought"]:
            answer["reasoning_content"] = step["thought"]
        messages.append(answer)
    return messages


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _task(fields: Fields) -> Fields:
    """The task's object; its own row may be in `metadata`."""
    task = field.inner(fields, "task")
    return {**field.inner(task, "metadata"), **task}


def _episode_id(fields: Fields) -> tuple[str, int | None]:
    """The group and the number in an episode's id."""
    own = field.optional_identifier(fields, "episode_id" if "episode_id" in fields else "id") or ""
    group, _, index = own.partition(":")
    return group, int(index) if index.isdecimal() and len(index) < 19 else None


def _correct(fields: Fields) -> Recorded | None:
    correct = fields.get("is_correct")
    return truth(correct, "is_correct=") if isinstance(correct, bool) else None


_RLLM = Rollouts(
    claim=any_of(claims("3: trajectories, is_correct"), claims("3: task, steps:list, reward", _is_trajectory)),
    each=_trajectories,
    said=_rllm_said,
    all_turns=True,
    task_id=lambda row: taken(_task(row), "id|task_id|uid|problem_id"),
    prompt=_rllm_prompt,
    sample_id="",
    sample_index=lambda row: _episode_id(row)[1],
    group=lambda row: _episode_id(row)[0],
    step="training_step|step",
    reward=lambda row: row["own"].get("reward"),
    parts=lambda row: trainer.parts(field.inner(row["own"], "signals")) if "trajectories" in row else {},
    grade=_correct,
    by="rllm",
    left_out="id, episode_id, task, trajectories, is_correct, steps, reward, uid, artifacts, num_steps, own",
)
RLLM = Format(
    name="rllm",
    title="rllm: episodes and trajectories, steps, reward, is_correct",
    tasks=trainer.tasks_in(_RLLM, lambda row: trainer.tests_in(_task(row)), "tests in task"),
    rollouts=_RLLM,
    from_name=step_in(r"(?:^|/)(?:train|val)_step_(\d{1,18})"),
)


_TRAJECTORY, _INFO = "gent-rollout-trajectory.jsonl", "gent-rollout-info.jsonl"
"""After an `a`, a capital in older versions."""
_EVENT = "agent/rollout/trajectory"
_OF_MONITOR = {"kind", "name", "value", "sinks", "x", "x_name", "commit", "tags", "info", "step"}
_LONGEST_LINE = 32 * 1024 * 1024


def _trajectory(fields: Fields) -> Fields:
    """The trajectory itself, of either kind of row."""
    if "segments" in fields:
        return fields
    found = {"value": field.unpacked(field.inner(fields, "info"), "value")}
    others = field.without(fields, _OF_MONITOR)
    segments, step = field.unpacked(fields, "value"), fields.get("x", fields.get("step"))
    return {**others, **field.inner(found, "value"), "segments": segments, "step": step}


def _agentfly_said(trajectory: Fields) -> Said:
    segments = trajectory.get("segments")
    if not isinstance(segments, list) or not segments:
        raise RecordError(f"segments must be a list of conversations, not {brief(segments)}")
    last = segments if chat.is_conversation(segments) else segments[-1]
    messages = chat.messages_of(last, "segments[-1]", "user")
    first = messages if last is segments else chat.messages_of(segments[0], "segments[0]", "user")
    asked = chat.split_at_answer(first)[0]
    return asked, chat.after_prompt(asked, messages)


def _extras(trajectory: Fields) -> dict[str, JsonValue]:
    """What the reward function returned beside the reward; the monitor has both in one object."""
    return {**field.inner(trajectory, "metrics"), **field.inner(field.inner(trajectory, "reward"), "extras")}


def _metrics(trajectory: Fields) -> Fields:
    extras = _extras(trajectory)
    return {"metrics": extras} if extras else {}


def _agentfly_tests(fields: Fields) -> JsonValue:
    trajectory = _trajectory(fields)
    return trainer.tests_in(trajectory.get("metadata"), {**trajectory, "segments": None})


def _agentfly_id(fields: Fields) -> JsonValue:
    """The dataset's, which is in the metadata or, in the monitor's files, beside it."""
    trajectory = _trajectory(fields)
    return taken({**trajectory, **field.inner(trajectory, "metadata")}, "task_id|id|problem_id|question_id")


_AGENTFLY = Rollouts(
    claim=any_of(
        claims(f"3: name, value, ({_EVENT})", lambda fields: str(fields["name"]).lower() == _EVENT),
        claims("3: segments, chain_id|group_id|finish_reason|segment_rewards"),
    ),
    each=lambda fields: (_trajectory(fields),),
    said=_agentfly_said,
    all_turns=True,
    task_id=_agentfly_id,
    prompt=lambda fields: chat.prompt_text(_agentfly_said(_trajectory(fields))[0]),
    sample_id="chain_id",
    sample_index="",
    group="group_id",
    reward=lambda row: row["reward"].get("reward") if isinstance(row.get("reward"), Mapping) else row.get("reward"),
    parts=lambda row: trainer.parts(_extras(row)),
    by="AgentFly",
    metadata=_metrics,
    left_out="segments, reward, metrics",
)
AGENTFLY = Format(
    name="agentfly",
    title="AgentFly: trajectories, segments, reward, chain_id; the monitor's files",
    tasks=trainer.tasks_in(_AGENTFLY, _agentfly_tests, "tests in metadata"),
    rollouts=_AGENTFLY,
)


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


CONTAINER = ContainerKind(
    name="AgentFly's monitor",
    claims=lambda head, name: name.endswith(_TRAJECTORY) and head.lstrip().startswith(b"{"),
    open=monitor_rows,
)
