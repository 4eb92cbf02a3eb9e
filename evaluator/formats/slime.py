"""slime and miles: samples of their rollouts as JSON, and miles' conversations (`trajectory/<rollout>.jsonl`).

A row is a sample (`prompt, response, label, reward, status, group_index, ...`), or a whole file with its `samples`.
miles' conversations have `sample_index, group_index, prompt, messages, reward`. Both, and rllm, save their samples as
PyTorch files, which are recognised, and never loaded, for they are pickles: a message says how to convert one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.problems import FormatError, one_line
from evaluator.formats.registry import Claim, ContainerKind, Fields, Format
from evaluator.model import JsonValue, RecordError, Rollout

_TAKEN = {
    "prompt", "response", "messages", "reward", "group_index", "step", "model", "tokens", "loss_mask",
    "rollout_log_probs", "rollout_routed_experts", "rollout_indexer_topk", "teacher_log_probs", "opd_reverse_kl",
    "multimodal_inputs", "multimodal_train_inputs",
}  # fmt: skip
_TOTALS = ("reward", "score", "total", "acc")


def claim_rollout(fields: Fields) -> Claim | None:
    samples = fields.get("samples")
    if isinstance(samples, list):
        first = next(iter(samples), None)
        fits = isinstance(first, Mapping) and _is_sample(first)
        return Claim(3, "samples with prompt, response, status") if fits else None
    if _is_sample(fields):
        return Claim(3, "prompt, response, status, group_index")
    return Claim(3, "sample_index, group_index, messages") if _is_trajectory(fields) else None


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The sample of a row, or all samples of a file in one object, whose `rollout_id` is the step."""
    samples = fields.get("samples")
    if not isinstance(samples, list):
        yield _rollout(fields, fields.get("step"))
        return
    step = fields.get("rollout_id")
    for sample in trainer.objects(samples, "samples"):
        yield _rollout(sample, fields.get("step") if step is None else step, spread=True)


def read_prompt(fields: Fields) -> str:
    return chat.prompt_text(_prompt(fields)) if "samples" not in fields else ""


def _rollout(fields: Fields, step: JsonValue, *, spread: bool = False) -> Rollout:
    prompt = _prompt(fields)
    completion = _completion(fields, prompt)
    reward, components = _reward(fields.get("reward"))
    metadata = trainer.rest(fields, _TAKEN) | chat.turns(prompt, completion)
    if spread:
        metadata.setdefault("prompt", prompt)
    return trainer.rollout(
        "slime",
        completion,
        metadata,
        reward,
        components=components,
        task_id=_task_id(fields),
        model=field.optional_identifier(fields, "model"),
        group=field.optional_identifier(fields, "group_index"),
        step=field.optional_whole({"step": step}, "step"),
    )


def _is_sample(fields: Fields) -> bool:
    return {"prompt", "response", "status"} <= fields.keys() and bool({"group_index", "index", "label"} & fields.keys())


def _is_trajectory(fields: Fields) -> bool:
    return {"sample_index", "group_index", "messages"} <= fields.keys()


def _prompt(fields: Fields) -> list[chat.Message]:
    asked = chat.messages_of(fields.get("prompt"), "prompt", "user")
    if asked or "messages" not in fields:
        return asked
    return chat.split_at_answer(chat.messages_of(fields["messages"], "messages", "user"))[0]


def _completion(fields: Fields, prompt: list[chat.Message]) -> list[chat.Message]:
    response = fields.get("response")
    if isinstance(response, str):
        return [{"role": "assistant", "content": response}]
    messages = chat.messages_of(fields.get("messages"), "messages", "assistant")
    if not messages:
        raise RecordError("response is missing: add the text that the model wrote")
    rest = chat.after_prompt(prompt, messages)
    return rest if len(rest) < len(messages) else chat.split_at_answer(messages)[1]


def _reward(reward: JsonValue) -> tuple[float | None, dict[str, float]]:
    """The reward, and its parts if it is an object of several."""
    if not isinstance(reward, Mapping):
        return trainer.number(reward), {}
    numbers = {name: value for name, part in reward.items() if (value := trainer.number(part)) is not None}
    total = next((name for name in _TOTALS if name in numbers), None)
    if total is None:
        return (next(iter(numbers.values())), {}) if len(numbers) == 1 else (None, numbers)
    return numbers.pop(total), numbers


def tests_of(fields: Fields) -> JsonValue:
    """The tests in a sample's label, else in its metadata; None if it has none."""
    return trainer.tests_in(fields.get("label"), fields.get("metadata"))


def _tests_of_one(fields: Fields) -> JsonValue:
    return tests_of(fields) if "samples" not in fields else None


def _task_id(fields: Fields) -> str:
    return field.id_of_prompt(
        chat.prompt_text(_prompt(fields)), "prompt is missing: add it, since it identifies the task"
    )


FORMAT = Format(
    name="slime",
    title="slime, miles: samples as JSON, prompt, response, label, reward, status",
    **trainer.tasks_in_rollouts(
        "slime", claim_rollout, _tests_of_one, _task_id, read_prompt, "tests in label or metadata"
    ),
    read_rollouts=read_rollouts,
    from_name=trainer.step_in(r"(?:^|/)(?:eval_)?(\d{1,18})\.jsonl?"),
)


_ENDINGS = (".pt", ".pth")
_CONVERT = (
    "import json,sys,torch;d=torch.load(sys.argv[1],weights_only=False);"
    "[print(json.dumps(s,default=str)) for s in (d['samples'] if isinstance(d,dict) else d)]"
)


def _is_pytorch(head: bytes, name: str) -> bool:
    """By the first member of the archive, or by the file's ending where it is a bare pickle."""
    archive = head.startswith(b"PK\x03\x04")
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")] if archive else b""
    return first.endswith((b"/data.pkl", b"/.format_version")) or (
        name.endswith(_ENDINGS) and (archive or head.startswith(b"\x80"))
    )


def _refuse_pytorch(path: Path) -> NoReturn:
    """Raises `FormatError` with a command that converts the file."""
    raise FormatError(
        f"{one_line(str(path))}: is a PyTorch file, a pickle, which can run code: it is never loaded. If you trust it, "
        f'convert it where its trainer is installed: python -c "{_CONVERT}" FILE > samples.jsonl'
    )


CONTAINER = ContainerKind(name="PyTorch file", claims=_is_pytorch, open=_refuse_pytorch)
