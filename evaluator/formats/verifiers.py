"""verifiers and prime-rl: results (`results.jsonl`), whose rows older prime-rl has too, and traces (`traces.jsonl`).

An episode of verifiers 1 has the `traces` of its agents; each is a rollout. A trace has its messages as a graph of
`nodes` (its conversation is the path to the last one), `calls` of the model, and named, weighted `rewards`, whose sum
is the reward that was trained on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format, step_in
from evaluator.formats.reading.spec import Rollouts, Said, claims
from evaluator.model import JsonValue, RecordError, brief

_STEP = step_in(r"(?:^|/)step_(\d{1,18})/")
_NO_PARTS = {"example_id", "prompt", "completion", "reward", "env_id", "model", "step", "group_id", "metrics"}


def _results(fields: Fields) -> Iterator[Fields]:
    """The row, with its metrics at the top."""
    if fields.get("completion") is None:
        error = fields.get("error")
        if isinstance(error, Mapping):
            error = error.get("error_chain_repr") or error.get("message") or error.get("error")
        why = f"the rollout failed ({brief(error)}) and has no completion" if error else "completion is missing"
        raise RecordError(why)
    yield {**field.inner(fields, "metrics"), **fields}


def _example(fields: Fields) -> JsonValue:
    return fields.get("example_id" if "example_id" in fields else "id")


def _result_id(fields: Fields) -> str | None:
    """Its number, which is unique in its environment."""
    example, env = _example(fields), field.optional_identifier(fields, "env_id")
    return f"{env}/{example}" if env and example is not None else example


def _names_in_path(path: str) -> Fields:
    """The environment and the model of `outputs/evals/<environment>--<model>/<run>/results.jsonl`; prime-rl's step."""
    found = dict(_STEP(path))
    folders = PurePath(path).parts[-3:-1]
    named = next((folder for folder in folders if re.fullmatch(r"[^/]+?--[^/]+", folder)), None)
    if named:
        env, _, model = named.partition("--")
        found |= {"env_id": env, "model": model.replace("--", "/")}
    return found


_RESULTS = Rollouts(
    claim=claims(
        "3: example_id, prompt, completion, reward, !task_id; "
        "3: id, prompt, completion, reward, info|answer|metrics|generation_ms|timing|task, !task_id"
    ),
    each=_results,
    said=trainer.conversation,
    task_id=_result_id,
    group=_example,
    reward="reward",
    parts=lambda fields: trainer.parts(fields, _NO_PARTS),
    by="verifiers",
    left_out=lambda fields: [
        "example_id" if "example_id" in fields else "id",
        *("env_id", "group_id", "trajectory", "tool_defs", "metrics", "error_chain", "long_error_chain"),
    ],
)
FORMAT = Format(
    name="verifiers",
    title="verifiers: results, example_id, prompt, completion, reward; older rollouts of prime-rl",
    tasks=trainer.tasks_in(
        _RESULTS,
        lambda row: trainer.tests_in(row.get("info"), row.get("answer"), dict(row)),
        "tests in info or answer",
    ),
    rollouts=_RESULTS,
    from_name=_names_in_path,
)


def _traces(fields: Fields) -> Iterator[Fields]:
    """The traces of an episode, each with the episode's fields and itself as `trace`; or the one trace of a row."""
    traces = fields.get("traces")
    if not isinstance(traces, list):
        yield {**fields, "trace": fields, "episode": fields}
        return
    if not traces:
        raise RecordError(f"the episode failed ({_error(fields.get('errors'))}) and has no trace")
    outer = field.without(fields, {"id", "traces", "group", "run"})
    for trace in trainer.objects(traces, "traces"):
        yield {**outer, **field.without(trace, {"task", "step"}), "trace": trace, "episode": fields}


def _episode(row: Fields) -> Fields:
    return field.inner(row, "episode") or row


def _trace_said(row: Fields) -> Said:
    """The messages on the path to the last node: before the model's first, and from there on."""
    trace = row["trace"]
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
    if not messages[sampled:]:
        raise RecordError(f"the trace failed ({_error(trace.get('errors'))}) and the model said nothing in it")
    return messages[:sampled], messages[sampled:]


def _trace_prompt(fields: Fields) -> str:
    """The prompt of the episode's task, else of its first trace."""
    data = _data(fields)
    asked = chat.messages_of(data.get("prompt"), "task.data.prompt", "user")
    if asked:
        return chat.prompt_text([*chat.messages_of(data.get("system_prompt"), "system_prompt", "system"), *asked])
    return chat.prompt_text(_trace_said(next(_traces(fields)))[0])


def _rewards(row: Fields) -> dict[str, float]:
    """What each reward adds to the sum: its score times its weight."""
    found: dict[str, float] = {}
    for name, reward in field.inner(row["trace"], "rewards").items():
        parts = reward if isinstance(reward, Mapping) else {"score": reward}
        score, weight = field.number(parts.get("score")), field.number(parts.get("weight"))
        if score is not None:
            found[name] = score * (1.0 if weight is None else weight)
    return found


def _data(fields: Fields) -> Fields:
    return field.inner(field.inner(fields, "task"), "data")


def _trace_id(fields: Fields) -> str | None:
    """Its key, or its number in its environment."""
    episode = _episode(fields)
    task, data = field.inner(episode, "task"), _data(episode)
    if task.get("key") and task.get("key") != task.get("hash"):
        return field.identifier(task, "key")
    env = field.inner(episode, "env").get("id") or task.get("type")
    number = field.optional_identifier(data, "idx")
    return f"{env}/{number}" if env and number is not None else number


def _model(row: Fields) -> str | None:
    calls = row.get("calls")
    models = [call.get("model") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    models.append(field.inner(field.inner(row, "agent"), "config").get("model"))
    return next((model for model in models if isinstance(model, str) and model), None)


def _error(errors: JsonValue) -> str:
    last = errors[-1] if isinstance(errors, list) and errors else None
    return f"{last.get('type')}: {brief(last.get('message'))}" if isinstance(last, Mapping) else "no reason was given"


def _agent(row: Fields) -> Fields:
    name = field.inner(row, "agent").get("name")
    return {"agent": name} if name else {}


_TRACES = Rollouts(
    claim=claims("3: task:object, traces:list; 3: task, nodes, rewards"),
    each=_traces,
    said=_trace_said,
    all_turns=True,
    task_id=_trace_id,
    prompt=_trace_prompt,
    sample_id="id",
    model=_model,
    group=lambda row: field.inner(_episode(row), "group").get("id"),
    step=lambda row: field.inner(field.inner(_episode(row), "run"), "work").get("step", row.get("step")),
    reward=lambda row: sum(_rewards(row).values()) if _rewards(row) else None,
    parts=_rewards,
    by="verifiers",
    metadata=_agent,
    left_out="version, step, task, nodes, rewards, calls, tools, verifiers, agent, state, trace, episode",
)
TRACES = Format(
    name="verifiers_traces",
    title="verifiers 1, prime-rl: traces, task, nodes, rewards",
    tasks=trainer.tasks_in(_TRACES, lambda row: trainer.tests_in(_data(row)), "task.data with tests"),
    rollouts=_TRACES,
    from_name=_STEP,
)
