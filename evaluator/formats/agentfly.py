"""AgentFly: its trajectories as JSON lines, and the files of its local monitor.

A trajectory is a row as `Trajectory.model_dump()` makes it: `segments` (conversations; the last one counts), `reward`,
`metrics`, ids, and the dataset's row in `metadata`. The monitor's `agent-rollout-trajectory.jsonl` has one conversation
a line as JSON text, and `agent-rollout-info.jsonl` beside it the reward and the ids on the same line.
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

_TRAJECTORY, _INFO = "gent-rollout-trajectory.jsonl", "gent-rollout-info.jsonl"
"""After an `a`, a capital in older versions."""
_EVENT = "agent/rollout/trajectory"
_MONITOR_TAKEN = {"kind", "name", "value", "sinks", "x", "x_name", "commit", "tags", "info", "step"}
_TAKEN = {"segments", "reward", "group_id", "chain_id", "step", "model", "metrics"}
_IDS = ("task_id", "id", "problem_id", "question_id")
_MARKS = {"chain_id", "group_id", "finish_reason", "segment_rewards"}
_LONGEST_LINE = 32 * 1024 * 1024


def claim_rollout(fields: Fields) -> Claim | None:
    if "value" in fields and str(fields.get("name")).lower() == _EVENT:
        return Claim(3, f"name {_EVENT}, value")
    return Claim(3, "segments, reward, chain_id") if "segments" in fields and _MARKS & fields.keys() else None


def read_rollout(fields: Fields) -> Rollout:
    """One trajectory. Its completion is the model's last message in its last segment."""
    trajectory = _trajectory(fields)
    prompt, completion = _conversation(trajectory)
    reward, extras = _reward(trajectory)
    metadata = trainer.rest(trajectory, _TAKEN) | {"messages": [*prompt, *completion]}
    if trajectory is not fields:
        metadata |= trainer.rest(fields, _MONITOR_TAKEN)
    metadata |= {"metrics": extras} if extras else {}
    return trainer.rollout(
        "AgentFly",
        completion,
        metadata,
        reward,
        components=trainer.parts(extras, ()),
        task_id=_task_id(fields),
        sample_id=field.optional_identifier(trajectory, "chain_id") or "",
        model=field.optional_identifier(trajectory, "model"),
        group=field.optional_identifier(trajectory, "group_id"),
        step=field.optional_whole({"step": fields.get("x", fields.get("step"))}, "step"),
    )


def read_prompt(fields: Fields) -> str:
    return chat.prompt_text(_conversation(_trajectory(fields))[0])


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
    info = fields.get("info")
    found = field.unpacked(info, "value") if isinstance(info, Mapping) else None
    known = dict(found) if isinstance(found, Mapping) else {}
    return {**known, "segments": segments}


def _conversation(trajectory: Fields) -> tuple[list[chat.Message], list[chat.Message]]:
    segments = trajectory.get("segments")
    if not isinstance(segments, list) or not segments:
        raise RecordError(f"segments must be a list of conversations, not {brief(segments)}")
    last = segments if chat.is_conversation(segments) else segments[-1]
    messages = chat.messages_of(last, "segments[-1]", "user")
    asked = chat.split_at_answer(messages)[0] if last is segments else _asked(segments[0])
    return asked, chat.after_prompt(asked, messages)


def _asked(segment: JsonValue) -> list[chat.Message]:
    return chat.split_at_answer(chat.messages_of(segment, "segments[0]", "user"))[0]


def _reward(trajectory: Fields) -> tuple[float | None, dict[str, JsonValue]]:
    """The reward, which the monitor has in an object with what else the reward function returned."""
    reward, metrics = trajectory.get("reward"), trajectory.get("metrics")
    extras = dict(metrics) if isinstance(metrics, Mapping) else {}
    if isinstance(reward, Mapping):
        more = reward.get("extras")
        return trainer.number(reward.get("reward")), {**extras, **(more if isinstance(more, Mapping) else {})}
    return trainer.number(reward), extras


def _tests(fields: Fields) -> JsonValue:
    trajectory = _trajectory(fields)
    return trainer.tests_in(trajectory.get("metadata"), {**trajectory, "segments": None})


def _task_id(fields: Fields) -> str:
    """The dataset's, which is in the metadata or, in the monitor's files, beside it; else made from the prompt."""
    trajectory = _trajectory(fields)
    metadata = trajectory.get("metadata")
    known: Fields = {**trajectory, **metadata} if isinstance(metadata, Mapping) else trajectory
    missing = "the trajectory has neither an id nor a prompt: add a task_id to its metadata"
    return field.own_id(known, _IDS) or field.id_of_prompt(read_prompt(fields), missing)


FORMAT = Format(
    name="agentfly",
    title="AgentFly: trajectories, segments, reward, chain_id; the monitor's files",
    **trainer.tasks_in_rollouts("AgentFly", claim_rollout, _tests, _task_id, read_prompt, "tests in metadata"),
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    repeats_tasks=True,
    read_prompt=read_prompt,
)
CONTAINER = ContainerKind(
    name="AgentFly's monitor",
    claims=lambda head, name: name.endswith(_TRAJECTORY) and head.lstrip().startswith(b"{"),
    open=monitor_rows,
)
