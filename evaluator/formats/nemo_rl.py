"""NeMo RL: `train_data_step<n>.jsonl` and `val_data_step<n>.jsonl`, of GRPO, PPO and distillation.

Each value is a list of one. Training rows have the conversation's texts without their roles, validation rows have
messages. With dynamic sampling `filtered_rewards` is this row's and `rewards` may be another's, which is left out.
"""

from __future__ import annotations

import re

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.model import JsonValue, RecordError, Rollout

_COMPUTED = {
    "token_ids", "token_loss_mask", "sample_loss_mask", "advantages", "generation_logprobs", "prev_logprobs",
    "input_lengths",
}  # fmt: skip
_TAKEN = {"content", "rewards", "filtered_rewards", "idx", "step", *_COMPUTED}
_NAME = re.compile(r"(train|val)_data_step(\d{1,18})\.jsonl")
_SYSTEM = re.compile(r"\s*(<[^>]*>\s*)*system\b")
_USER = re.compile(r"(<[^>]*>\s*)user\b")


def claim_rollout(fields: Fields) -> Claim | None:
    if not {"content", "rewards"} <= fields.keys():
        return None
    computed = sorted(_COMPUTED & fields.keys())
    if computed:
        return Claim(3, f"content, rewards, {computed[0]}")
    return Claim(2, "content, rewards, idx") if "idx" in fields else None


def read_rollout(fields: Fields) -> Rollout:
    """One sample."""
    prompt, completion = _conversation(fields)
    reward = fields.get("filtered_rewards", fields.get("rewards"))
    return trainer.rollout(
        "NeMo RL",
        completion,
        trainer.rest(fields, _TAKEN) | chat.turns(prompt, completion),
        trainer.number(_only(reward)),
        task_id=_task_id(fields, prompt),
        step=field.optional_whole(fields, "step"),
    )


def read_prompt(fields: Fields) -> str:
    return chat.prompt_text(_conversation(fields)[0])


def from_name(path: str) -> Fields:
    found = _NAME.search(path)
    return {"step": int(found[2]), "split": found[1]} if found else {}


def _only(value: JsonValue) -> JsonValue:
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _conversation(fields: Fields) -> tuple[list[chat.Message], list[chat.Message]]:
    content = fields.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], str | list):
        content = content[0]
    if isinstance(content, str):
        return [], [{"role": "assistant", "content": content}]
    if isinstance(content, list) and content and all(isinstance(text, str) for text in content):
        return _with_roles(content)
    messages = chat.messages_of(content, "content", "assistant")
    if not messages:
        raise RecordError("content is empty: it must have the conversation's texts or messages")
    return chat.split_at_answer(messages)


def _with_roles(texts: list[str]) -> tuple[list[chat.Message], list[chat.Message]]:
    """Texts take turns: the prompt, the model, its environment, the model. A system prompt may come first."""
    if len(texts) == 1:
        return [], [{"role": "assistant", "content": texts[0]}]
    first = 2 if len(texts) > 2 and _SYSTEM.match(texts[0]) and not _USER.search(texts[0]) else 1
    prompt = [{"role": role, "content": text} for role, text in zip(("system", "user")[-first:], texts, strict=False)]
    roles = ("assistant", "environment")
    return prompt, [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts[first:])]


def _task_id(fields: Fields, prompt: list[chat.Message]) -> str:
    """Made from the prompt; a row without one, as some versions write, has its number in the file."""
    if prompt:
        return field.id_from_prompt(chat.prompt_text(prompt))
    number = field.optional_identifier(fields, "idx")
    if number is None:
        raise RecordError("the row has neither a prompt nor an idx: add the prompt to its content")
    return f"row-{number}"


FORMAT = Format(
    name="nemo_rl",
    title="NeMo RL: train_data_step and val_data_step, content, rewards",
    claim_rollout=claim_rollout,
    read_rollouts=one_per_row(read_rollout),
    read_prompt=read_prompt,
    from_name=from_name,
)
