"""slime and miles: samples of their rollouts as JSON, and miles' conversations (`trajectory/<rollout>.jsonl`).

Both, and rllm, save their samples as PyTorch files, which are recognised, and never loaded, for they are pickles: a
message says how to convert one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.compression import first_member
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.problems import FormatError, one_line
from evaluator.formats.reading.registry import ContainerKind, Format, step_in
from evaluator.formats.reading.spec import Rollouts, Said, any_of, claims
from evaluator.model import JsonValue, RecordError

_TOTALS = ("reward", "score", "total", "acc")
_claim_sample = claims("3: prompt, response, status, group_index|index|label")


def _first_fits(fields: Fields) -> object:
    first = next(iter(fields["samples"]), None)
    return isinstance(first, Mapping) and _claim_sample(first)


def _samples(fields: Fields) -> Iterator[Fields]:
    """The sample of a row, or all samples of a file in one object, whose `rollout_id` is the step."""
    if "samples" not in fields:
        yield fields
        return
    step = fields.get("step") if fields.get("rollout_id") is None else fields["rollout_id"]
    for sample in trainer.objects(fields["samples"], "samples"):
        yield {**sample, "step": step, "asked": _said(sample)[0]}


def _said(fields: Fields) -> Said:
    """The prompt, and what is after it: `response`, or miles' messages, which may repeat the prompt."""
    prompt = chat.messages_of(fields.get("prompt"), "prompt", "user")
    messages = chat.messages_of(fields.get("messages"), "messages", "user")
    asked, answer = chat.split_at_answer(messages)
    if isinstance(fields.get("response"), str):
        return prompt or asked, [{"role": "assistant", "content": fields["response"]}]
    if not messages:
        raise RecordError("response is missing: add the text that the model wrote")
    rest = chat.after_prompt(prompt, messages)
    return prompt or asked, rest if len(rest) < len(messages) else answer


def _prompt(fields: Fields) -> str:
    """Empty for a file in one object: its samples have theirs in their metadata."""
    return chat.prompt_text(_said(fields)[0]) if "samples" not in fields else ""


def _numbers(fields: Fields) -> dict[str, float]:
    """The numbers of a reward that is an object."""
    found = ((name, field.number(part)) for name, part in field.inner(fields, "reward").items())
    return {name: value for name, value in found if value is not None}


def _total(fields: Fields) -> JsonValue:
    numbers = _numbers(fields)
    if not numbers:
        return fields.get("reward")
    only = next(iter(numbers.values())) if len(numbers) == 1 else None
    return next((numbers[name] for name in _TOTALS if name in numbers), only)


def _parts(fields: Fields) -> dict[str, float]:
    numbers = _numbers(fields)
    total = next((name for name in _TOTALS if name in numbers), None)
    return {name: value for name, value in numbers.items() if name != total} if total or len(numbers) > 1 else {}


def tests_of(fields: Fields) -> JsonValue:
    """The tests in a sample's label, else in its metadata; None if it has none."""
    return trainer.tests_in(fields.get("label"), fields.get("metadata"))


_ROLLOUTS = Rollouts(
    claim=any_of(
        claims("3: samples:list, (with prompt and response and status)", _first_fits),
        _claim_sample,
        claims("3: sample_index, group_index, messages"),
    ),
    each=_samples,
    said=_said,
    prompt=_prompt,
    task_id="",
    sample_id="",
    sample_index="",
    group="group_index",
    reward=_total,
    parts=_parts,
    by="slime",
    metadata=lambda sample: {"prompt": sample["asked"]} if "asked" in sample else {},
    left_out=(
        "prompt, response, messages, reward, tokens, loss_mask, rollout_log_probs, rollout_routed_experts, asked, "
        "rollout_indexer_topk, teacher_log_probs, opd_reverse_kl, multimodal_inputs, multimodal_train_inputs"
    ),
)
FORMAT = Format(
    name="slime",
    title="slime, miles: samples as JSON, prompt, response, label, reward, status",
    tasks=trainer.tasks_in(
        _ROLLOUTS, lambda row: tests_of(row) if "samples" not in row else None, "tests in label or metadata"
    ),
    rollouts=_ROLLOUTS,
    from_name=step_in(r"(?:^|/)(?:eval_)?(\d{1,18})\.jsonl?"),
)


_CONVERT = (
    "import json,sys,torch;d=torch.load(sys.argv[1],weights_only=False);"
    "[print(json.dumps(s,default=str)) for s in (d['samples'] if isinstance(d,dict) else d)]"
)


def _is_pytorch(head: bytes, name: str) -> bool:
    """By the first member of the archive, or by the file's ending where it is a bare pickle."""
    first = first_member(head)
    return first.endswith((b"/data.pkl", b"/.format_version")) or (
        name.endswith((".pt", ".pth")) and (bool(first) or head.startswith(b"\x80"))
    )


def _refuse_pytorch(path: Path) -> NoReturn:
    """Raises `FormatError` with a command that converts the file."""
    raise FormatError(
        f"{one_line(str(path))}: is a PyTorch file, a pickle, which can run code: it is never loaded. If you trust it, "
        f'convert it where its trainer is installed: python -c "{_CONVERT}" FILE > samples.jsonl'
    )


CONTAINER = ContainerKind(name="PyTorch file", claims=_is_pytorch, open=_refuse_pytorch)
