"""verifiers and prime-rl: results (`results.jsonl`), whose rows older prime-rl has too, and traces (`traces.jsonl`).

A result has `example_id` (`id` in older ones), `prompt` and `completion` (text or messages), `answer`, `info`,
`reward`, `metrics` (also at the top of the row), `error`, times and counts. The environment and the model are in the
name of the folder, `<environment>--<model>`; prime-rl's step is in that of its `step_<n>`.

verifiers 1 and prime-rl have one episode a line, and prime-rl's files one trace a line. An episode has the `traces` of
its agents; each is a rollout. A trace has its task, its messages as a graph of `nodes` (its conversation is the path to
the last one), `calls` of the model, and named, weighted `rewards`, whose sum is the reward that was trained on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import JsonValue, RecordError, Rollout, brief

_RESULT_TAKEN = {
    "example_id", "prompt", "completion", "reward", "env_id", "model", "step", "group_id", "trajectory", "tool_defs",
    "metrics", "error_chain", "long_error_chain",
}  # fmt: skip
_STEP = trainer.step_in(r"(?:^|/)step_(\d{1,18})/")
_MARKS = ("info", "answer", "metrics", "generation_ms", "timing", "task")


def _claim_result(fields: Fields) -> Claim | None:
    if not {"prompt", "completion", "reward"} <= fields.keys() or "task_id" in fields:
        return None
    mark = next((name for name in _MARKS if name in fields), None)
    if "example_id" in fields:
        return Claim(3, "example_id, prompt, completion, reward")
    return Claim(3, f"id, prompt, completion, reward, {mark}") if mark and "id" in fields else None


def _read_result(fields: Fields) -> Rollout:
    """One completion. The scale of its reward is the environment's, so it is not a verdict."""
    if fields.get("completion") is None:
        why = _result_error(fields.get("error"))
        raise RecordError(f"the rollout failed ({why}) and has no completion" if why else "completion is missing")
    prompt, completion = trainer.conversation(fields)
    numbers = {**field.inner(fields, "metrics"), **fields}
    components = trainer.parts(numbers, _RESULT_TAKEN)
    metadata = trainer.rest(numbers, {*_RESULT_TAKEN, *_id_field(fields), *components})
    metadata |= chat.turns(prompt, completion)
    return trainer.rollout(
        "verifiers",
        completion,
        metadata,
        trainer.number(fields.get("reward")),
        components=components,
        task_id=_result_id(fields),
        model=field.optional_identifier(fields, "model"),
        group=_example(fields),
        step=field.optional_whole(fields, "step"),
    )


def _names_in_path(path: str) -> Fields:
    """The environment and the model of `outputs/evals/<environment>--<model>/<run>/results.jsonl`; prime-rl's step."""
    found = dict(_STEP(path))
    folders = PurePath(path).parts[-3:-1]
    named = next((folder for folder in folders if re.fullmatch(r"[^/]+?--[^/]+", folder)), None)
    if named:
        env, _, model = named.partition("--")
        found |= {"env_id": env, "model": model.replace("--", "/")}
    return found


def _result_tests(fields: Fields) -> JsonValue:
    return trainer.tests_in(fields.get("info"), fields.get("answer"), dict(fields))


def _id_field(fields: Fields) -> tuple[str, ...]:
    return () if "example_id" in fields else ("id",)


def _example(fields: Fields) -> str | None:
    return field.optional_identifier(fields, next(iter(_id_field(fields)), "example_id"))


def _result_id(fields: Fields) -> str:
    """Its number, which is unique in its environment; made from the prompt where it has none."""
    example, env = _example(fields), field.optional_identifier(fields, "env_id")
    if example is not None:
        return f"{env}/{example}" if env else example
    return field.id_from_prompt(trainer.prompt_text(fields))


def _result_error(error: JsonValue) -> str:
    if isinstance(error, Mapping):
        error = error.get("error_chain_repr") or error.get("message") or error.get("error")
    return brief(error) if error else ""


FORMAT = Format(
    name="verifiers",
    title="verifiers: results, example_id, prompt, completion, reward; older rollouts of prime-rl",
    **trainer.tasks_in_rollouts(
        "verifiers", _claim_result, _result_tests, _result_id, trainer.prompt_text, "tests in info or answer"
    ),
    read_rollouts=one_per_row(_read_result),
    from_name=_names_in_path,
)


_TRACE_TAKEN = {"id", "version", "task", "nodes", "rewards", "calls", "tools", "verifiers", "agent", "state", "step"}
_EPISODE_TAKEN = {"id", "task", "traces", "group", "run", "step"}


def _claim_traces(fields: Fields) -> Claim | None:
    if isinstance(fields.get("traces"), list) and isinstance(fields.get("task"), Mapping):
        return Claim(3, "task, traces")
    return Claim(3, "task, nodes, rewards") if {"task", "nodes", "rewards"} <= fields.keys() else None


def _read_traces(fields: Fields) -> Iterator[Rollout]:
    """One rollout for each trace of an episode, or the one of a trace."""
    traces = fields.get("traces")
    if not isinstance(traces, list):
        yield _rollout(fields, fields)
        return
    if not traces:
        raise RecordError(f"the episode failed ({_trace_error(fields.get('errors'))}) and has no trace")
    for trace in trainer.objects(traces, "traces"):
        yield _rollout(trace, fields)


def _trace_prompt(fields: Fields) -> str:
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
        raise RecordError(f"the trace failed ({_trace_error(trace.get('errors'))}) and the model said nothing in it")
    rewards = _rewards(trace.get("rewards"))
    outer = {} if episode is trace else trainer.rest(episode, _EPISODE_TAKEN)
    metadata = {**outer, **trainer.rest(trace, _TRACE_TAKEN), "messages": [*prompt, *completion]}
    agent = field.inner(trace, "agent").get("name")
    metadata |= {"agent": agent} if agent else {}
    run = field.inner(field.inner(episode, "run"), "work")
    return trainer.rollout(
        "verifiers",
        completion,
        metadata,
        sum(rewards.values()) if rewards else None,
        components=rewards,
        task_id=_trace_id(episode),
        sample_id=field.optional_identifier(trace, "id") or "",
        model=_model(trace),
        group=field.optional_identifier(field.inner(episode, "group"), "id"),
        step=field.optional_whole(run if "step" in run else episode, "step"),
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
        parts = reward if isinstance(reward, Mapping) else {"score": reward}
        score, weight = trainer.number(parts.get("score")), trainer.number(parts.get("weight"))
        if score is not None:
            found[name] = score * (1.0 if weight is None else weight)
    return found


def _data(fields: Fields) -> Fields:
    return field.inner(field.inner(fields, "task"), "data")


def _trace_id(fields: Fields) -> str:
    """Its key; its number in its environment; else made from its prompt."""
    task, data = field.inner(fields, "task"), _data(fields)
    if task.get("key") and task.get("key") != task.get("hash"):
        return field.identifier(task, "key")
    env = field.inner(fields, "env").get("id") or task.get("type")
    if data.get("idx") is not None:
        return f"{env}/{field.identifier(data, 'idx')}" if env else field.identifier(data, "idx")
    return field.id_from_prompt(_trace_prompt(fields))


def _model(trace: Fields) -> str | None:
    calls = trace.get("calls")
    models = [call.get("model") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    models.append(field.inner(field.inner(trace, "agent"), "config").get("model"))
    return next((model for model in models if isinstance(model, str) and model), None)


def _trace_error(errors: JsonValue) -> str:
    last = errors[-1] if isinstance(errors, list) and errors else None
    return f"{last.get('type')}: {brief(last.get('message'))}" if isinstance(last, Mapping) else "no reason was given"


TRACES = Format(
    name="verifiers_traces",
    title="verifiers 1, prime-rl: traces, task, nodes, rewards",
    **trainer.tasks_in_rollouts(
        "verifiers",
        _claim_traces,
        lambda row: trainer.tests_in(_data(row)),
        _trace_id,
        _trace_prompt,
        "task.data with tests",
    ),
    read_rollouts=_read_traces,
    from_name=_STEP,
)
