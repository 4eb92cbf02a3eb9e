"""ColossalAI (coati): the rollouts that its producer logs (`<project>_run_<group>.jsonl`).

A row is `{"train_step", "rollout": [...]}`: of each prompt of a batch the first sample, prompt and completion in one
decoded text. They are separated where the chat template begins the assistant's turn; a text without that is all
completion. There is no reward and no id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format
from evaluator.model import Kind, RecordError, Rollout, brief

_TURN = re.compile(r"(?:^|\n)(?:<\|im_start\|>)?assistant\n")
_RUN = re.compile(r"(.+)_run_(.+)")


def claim_rollout(fields: Fields) -> Claim | None:
    return Claim(3, "train_step, rollout") if {"train_step", "rollout"} <= fields.keys() else None


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """One rollout for each text."""
    texts = fields.get("rollout")
    if not isinstance(texts, list):
        raise RecordError(f"rollout must be a list of texts, not {brief(texts)}")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise RecordError(f"rollout[{place}] must be text, not {brief(text)}")
        turn = _TURN.search(text)
        prompt, completion = (text[: turn.start()], text[turn.end() :]) if turn else ("", text)
        yield Rollout(
            task_id=field.id_from_prompt(prompt or text),
            completion=completion,
            kind=Kind.CHAT,
            step=field.optional_whole(fields, "train_step"),
            metadata=trainer.rest(fields, {"train_step", "rollout"})
            | ({"prompt": [{"role": "user", "content": prompt}]} if prompt else {}),
        )


def from_name(path: str) -> Fields:
    found = _RUN.fullmatch(PurePath(path).name.split(".")[0])
    return {"project": found[1], "run": found[2]} if found else {}


FORMAT = Format(
    name="colossalai_rollouts",
    title="ColossalAI: logged rollouts, train_step, rollout",
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
    from_name=from_name,
)
