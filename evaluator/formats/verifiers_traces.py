"""verifiers 1 and prime-rl: `traces.jsonl`, one episode a line, and prime-rl's files of one trace a line.

An episode has the `traces` of its agents; each is a rollout. A trace has its task, its messages as a graph of `nodes`
(its conversation is the path to the last one), `calls` of the model, and named, weighted `rewards`, whose sum is the
reward that was trained on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import JsonValue, RecordError, Rollout, brief

_TRACE_TAKEN = {"id", "version", "task", "nodes", "rewards", "calls", "tools", "verifiers", "agent", "state", "step"}
_EPISODE_TAKEN = {"id", "task", "traces", "group", "run", "step"}


def claim_rollout(fields: Fields) -> Claim | None:
    if isinstance(fields.get("traces"), list) and isinstance(fields.get("task"), Mapping):
        return Claim(3, "task, traces")
    return Claim(3, "task, nodes, rewards") if {"task", "nodes", "rewards"} <= fields.keys() else None


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """One rollout for each trace of an episode, or the one of a trace."""
    traces = fields.get("traces")
    if not isinstance(traces, list):
        yield _rollout(fields, fields)
        return
    if not traces:
        raise RecordError(f"the episode failed ({_error(fields.get('errors'))}) and has no trace")
    for place, trace in enumerate(traces):
        if not isinstance(trace, Mapping):
            raise RecordError(f"traces[{place}] must be an object, not {brief(trace)}")
        yield _rollout(trace, fields)


def read_prompt(fields: Fields) -> str:
    """The prompt of the episode's task, else of its first trace."""
    data = _data(fields)
    asked = chat.messages_of(data.get("prompt"), "task.data.prompt", "user")
    if asked:
        return chat.prompt_text([*chat.messages_of(data.get("system_prompt"), "system_prompt", "system"), *asked])
    traces = fields.get("traces")
    first = traces[0] if isinstance(traces, list) and traces else fields
    return chat.prompt_text(_conversation(first)[0]) if isinstance(first, Mapping) else ""


def _rollout(trace: Fields, episode: Fields) -> Rollout:
    prompt, completion = _conversation(trace)
    if not completion:
        raise RecordError(f"the trace failed ({_error(trace.get('errors'))}) and the model said nothing in it")
    rewards = _rewards(trace.get("rewards"))
    outer = {} if episode is trace else trainer.rest(episode, _EPISODE_TAKEN)
    metadata = {**outer, **trainer.rest(trace, _TRACE_TAKEN), "messages": [*prompt, *completion]}
    agent = field.inner(trace, "agent").get("name")
    metadata |= {"agent": agent} if agent else {}
    metadata |= {"reward_components": rewards} if rewards else {}
    run = field.inner(field.inner(episode, "run"), "work")
    return Rollout(
        task_id=_task_id(episode),
        completion=chat.answer_text(completion),
        sample_id=field.optional_identifier(trace, "id") or "",
        model=_model(trace),
        group=field.optional_identifier(field.inner(episode, "group"), "id"),
        step=field.optional_whole(run if "step" in run else episode, "step"),
        metadata=metadata,
        **trainer.grade("verifiers", sum(rewards.values()) if rewards else None),
    )


def _conversation(trace: Fields) -> tuple[list[chat.Message], list[chat.Message]]:
    """The messages on the path to the last node: before the model's first, and from there on."""
    nodes = trace.get("nodes")
    if not isinstance(nodes, list):
        raise RecordError("nodes must be a list of messages")
    path: list[Fields] = []
    place: JsonValue = len(nodes) - 1
    while isinstance(place, int) and 0 <= place < len(nodes) and len(path) < len(nodes):
        node = nodes[place]
        if not isinstance(node, Mapping):
            raise RecordError(f"nodes[{place}] must be an object, not {brief(node)}")
        path.append(node)
        place = node.get("parent")
    path.reverse()
    messages = [
        chat.messages_of(node.get("message"), "nodes.message", "user")[0] for node in path if node.get("message")
    ]
    sampled = next((i for i, node in enumerate(path) if node.get("sampled") is True), len(messages))
    return messages[:sampled], messages[sampled:]


def _rewards(rewards: JsonValue) -> dict[str, float]:
    """What each reward adds to the sum: its score times its weight."""
    found: dict[str, float] = {}
    for name, reward in rewards.items() if isinstance(rewards, Mapping) else ():
        score = trainer.number(_of(reward, "score", reward))
        if score is not None:
            weight = trainer.number(_of(reward, "weight", 1.0))
            found[name] = score * (1.0 if weight is None else weight)
    return found


def _of(value: JsonValue, name: str, default: JsonValue) -> JsonValue:
    return value.get(name, default) if isinstance(value, Mapping) else default


def _data(fields: Fields) -> Fields:
    return field.inner(field.inner(fields, "task"), "data")


def _tests(fields: Fields) -> JsonValue:
    return trainer.tests_in(_data(fields))


def _task_id(fields: Fields) -> str:
    """Its key; its number in its environment; else made from its prompt."""
    task, data = field.inner(fields, "task"), _data(fields)
    if task.get("key") and task.get("key") != task.get("hash"):
        return field.identifier(task, "key")
    env = field.inner(fields, "env").get("id") or task.get("type")
    if data.get("idx") is not None:
        return f"{env}/{field.identifier(data, 'idx')}" if env else field.identifier(data, "idx")
    return field.id_from_prompt(read_prompt(fields))


def _model(trace: Fields) -> str | None:
    calls = trace.get("calls")
    models = [call.get("model") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    models.append(field.inner(field.inner(trace, "agent"), "config").get("model"))
    return next((model for model in models if isinstance(model, str) and model), None)


def _error(errors: JsonValue) -> str:
    last = errors[-1] if isinstance(errors, list) and errors else None
    return f"{last.get('type')}: {brief(last.get('message'))}" if isinstance(last, Mapping) else "no reason was given"


FORMAT = Format(
    name="verifiers_traces",
    title="verifiers 1, prime-rl: traces, task, nodes, rewards",
    **trainer.tasks_in_rollouts("verifiers", claim_rollout, _tests, _task_id, read_prompt, "task.data with tests"),
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
    repeats_tasks=True,
    read_prompt=read_prompt,
    from_name=trainer.step_in(r"(?:^|/)step_(\d{1,18})/"),
)
