"""TRL, verl, NeMo RL and open-r1: what these trainers log of each step, and the tasks that they are given.

TRL's GRPO and RLOO trainers log completions (`completions_<step>.parquet`, or a table's JSON lines). A row has `step`,
`prompt`, `completion` (both text or messages), one column of each reward function, columns that a reward function
logged itself, and `advantage`. The reward functions' are the columns of numbers right after the completion. The file
does not have their weights: the reward is their sum, TRL's default.

verl's trainers dump each step in `rollout_data_dir` and `validation_data_dir`, as `<step>.jsonl`. A row has the decoded
`input` and `output`, `gts` (the ground truth), `score`, `step`, and what else the reward function returned, such as
`acc`. Special tokens were dropped on decoding. A row without an id gets one made from its input. If `gts` is tests,
each row includes its task.

NeMo RL has `train_data_step<n>.jsonl` and `val_data_step<n>.jsonl`, of GRPO, PPO and distillation. Each value is a list
of one. Training rows have the conversation's texts without their roles, validation rows have messages. With dynamic
sampling `filtered_rewards` is this row's and `rewards` may be another's, which is left out.

open-r1 and SYNTHETIC-1 have tasks with `verification_info`, `{"language", "test_cases": [{"input", "output", ...}]}`.
The prompt is `prompt`, `problem`, `problem_statement` or `question`, the id `problem_id`, `task_id` or `id`; without
one it is made from the prompt. A model's rollouts of them are TRL's files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.registry import Claim, Fields, Format, one_per_row
from evaluator.formats.tests_alone import task_from
from evaluator.model import JsonValue, RecordError, Rollout, Task, Verdict

_OWN = ("step", "prompt", "completion", "advantage")
_TRL_IDS = ("task_id", "problem_id")
_TOTALS = ("reward", "rewards", "total_reward")


def _claim_trl(fields: Fields) -> Claim | None:
    if not {"step", "prompt", "completion"} <= fields.keys() or "task_id" in fields:
        return None
    if "advantage" in fields:
        return Claim(3, "step, prompt, completion, advantage")
    return Claim(2, "step, prompt, completion, rewards") if _rewards(fields) else None


def _read_trl(fields: Fields) -> Rollout:
    """One completion. A reward function that gave no reward is left out."""
    if fields.get("completion") is None:
        raise RecordError("completion is missing: add the text or the messages that the model wrote")
    prompt, completion = trainer.conversation(fields)
    rewards = _rewards(fields)
    components = {name: value for name, value in rewards.items() if name not in _TOTALS}
    metadata = trainer.rest(fields, {"prompt", "completion", "step", "model", *_TRL_IDS, *rewards})
    metadata |= chat.turns(prompt, completion)
    if len(rewards) > 1:
        metadata["reward_components"] = components
    return trainer.rollout(
        "TRL",
        completion,
        metadata,
        _total(rewards),
        *_trl_verdict(fields),
        task_id=_trl_id(fields),
        model=field.optional_identifier(fields, "model"),
        step=field.optional_whole(fields, "step"),
    )


def _rewards(fields: Fields) -> Mapping[str, float]:
    """Each reward function's reward, in the file's order."""
    found: dict[str, float] = {}
    for name, value in fields.items():
        if name in _OWN or name in _TRL_IDS:
            continue
        if value is not None and not isinstance(value, float) and name not in _TOTALS:
            break
        given = trainer.number(value)
        if given is not None and math.isfinite(given):
            found[name] = given
    return found


def _total(rewards: Mapping[str, float]) -> float | None:
    named = next((rewards[name] for name in _TOTALS if name in rewards), None)
    return named if named is not None else math.fsum(rewards.values()) if rewards else None


def _trl_verdict(fields: Fields) -> tuple[Verdict | None, str | None]:
    """What our own reward function logged, the first if there are several."""
    logged = (value for name, value in fields.items() if name.endswith("/verdict") and isinstance(value, str))
    word = next((value for value in logged if value in set(Verdict)), None)
    return (Verdict(word), word) if word else (None, None)


def _trl_tests(fields: Fields) -> JsonValue:
    """Those that a reward function logged."""
    return trainer.tests_in(dict(fields))


def _trl_id(fields: Fields) -> str:
    missing = "prompt is missing: add it, since it identifies the task"
    return field.own_id(fields, _TRL_IDS) or field.id_of_prompt(trainer.prompt_text(fields), missing)


TRL = Format(
    name="trl",
    title="TRL: logged completions, step, prompt, completion, rewards, advantage",
    **trainer.tasks_in_rollouts(
        "TRL", _claim_trl, _trl_tests, _trl_id, trainer.prompt_text, "step, prompt, completion and a column of tests"
    ),
    read_rollouts=one_per_row(_read_trl),
    from_name=trainer.step_in(r"completions_(\d{1,18})\.[a-z]+"),
)


_VERL_TAKEN = {"input", "output", "gts", "score", "step", "uid", "model"}


def _claim_verl(fields: Fields) -> Claim | None:
    if not {"input", "output", "score"} <= fields.keys():
        return None
    return Claim(3, "input, output, gts, score") if "gts" in fields else Claim(2, "input, output, score")


def _read_verl(fields: Fields) -> Rollout:
    """One response. It passed if `acc` is 1, or as our own reward function's `verdict` says."""
    if not isinstance(fields.get("output"), str):
        raise RecordError("output is missing: add the text that the model wrote")
    score = trainer.number(fields.get("score"))
    again = trainer.number(fields.get("reward")) == score
    components = trainer.parts(fields, {"score", "reward"} if again else {"score"})
    metadata = trainer.rest(fields, {*_VERL_TAKEN, *components, *(("reward",) if again else ())})
    if trainer.tests_in(fields.get("gts")) is None and fields.get("gts") is not None:
        metadata["gts"] = fields["gts"]
    if components:
        metadata["reward_components"] = components
    return Rollout(
        task_id=_verl_id(fields),
        completion=field.text(fields, "output"),
        model=field.optional_identifier(fields, "model"),
        group=field.optional_identifier(fields, "uid"),
        step=field.optional_whole(fields, "step"),
        metadata=metadata,
        **trainer.grade("verl", score, *_verl_verdict(fields)),
    )


def _verl_verdict(fields: Fields) -> tuple[bool | Verdict | None, str | None]:
    word = fields.get("verdict")
    if isinstance(word, str) and word in set(Verdict):
        return Verdict(word), word
    acc: JsonValue = fields.get("acc")
    share = trainer.number(acc)
    if share is None or not 0 <= share <= 1:
        return None, None
    return share == 1, f"acc={acc}"


def _verl_prompt(fields: Fields) -> str:
    return field.text(fields, "input")


def _verl_id(fields: Fields) -> str:
    return field.id_of_prompt(_verl_prompt(fields), "input is missing: add the prompt, which identifies the task")


VERL = Format(
    name="verl",
    title="verl: rollout and validation dumps, input, output, gts, score",
    **trainer.tasks_in_rollouts(
        "verl", _claim_verl, lambda row: trainer.tests_in(row.get("gts")), _verl_id, _verl_prompt, "gts with tests"
    ),
    read_rollouts=one_per_row(_read_verl),
    from_name=trainer.step_in(r"(?:^|/)(\d{1,18})\.jsonl"),
)


_PROMPTS = ("prompt", "problem", "problem_statement", "question")
_OPEN_R1_IDS = ("task_id", "problem_id", "id")
_SOLUTION = "gold_standard_solution"
_FENCED = re.compile(r"\s*```(?:python|py)?\s*\n(.*?)\n```\s*", re.DOTALL)


def _claim_open_r1(fields: Fields) -> Claim | None:
    prompt = next((name for name in _PROMPTS if name in fields), None)
    if "verification_info" not in fields or prompt is None or "completion" in fields:
        return None
    return Claim(3, f"{prompt}, verification_info")


def _read_open_r1(fields: Fields) -> Task:
    """One task. Raises `RecordError` if its language is not Python."""
    if fields.get("verification_info") is None:
        raise RecordError("verification_info is null: add the test cases")
    name = next((name for name in _PROMPTS if fields.get(name)), "prompt")
    prompt = chat.prompt_text(chat.messages_of(fields.get(name), name, "user"))
    own = field.own_id(fields, _OPEN_R1_IDS)
    if not own and not prompt:
        raise RecordError("the row has neither an id nor a prompt: add a problem_id")
    task = task_from(fields["verification_info"], own or field.id_from_prompt(prompt))
    task.prompt, task.source = prompt, field.text(fields, "source") or "open-r1"
    solution = field.text(fields, _SOLUTION)
    fenced = _FENCED.fullmatch(solution)
    task.reference = (fenced[1] if fenced else solution) or None
    task.metadata = trainer.rest(fields, {name, "verification_info", "source", _SOLUTION, *_OPEN_R1_IDS})
    return task


OPEN_R1 = Format(
    name="open_r1",
    title="open-r1, SYNTHETIC-1: tasks with verification_info",
    claim_task=_claim_open_r1,
    read_task=_read_open_r1,
)


_COMPUTED = {
    "token_ids", "token_loss_mask", "sample_loss_mask", "advantages", "generation_logprobs", "prev_logprobs",
    "input_lengths",
}  # fmt: skip
_NEMO_RL_TAKEN = {"content", "rewards", "filtered_rewards", "idx", "step", *_COMPUTED}
_DATA_STEP = re.compile(r"(train|val)_data_step(\d{1,18})\.jsonl")
_SYSTEM = re.compile(r"\s*(<[^>]*>\s*)*system\b")
_USER = re.compile(r"(<[^>]*>\s*)user\b")


def _claim_nemo_rl(fields: Fields) -> Claim | None:
    if not {"content", "rewards"} <= fields.keys():
        return None
    computed = sorted(_COMPUTED & fields.keys())
    if computed:
        return Claim(3, f"content, rewards, {computed[0]}")
    return Claim(2, "content, rewards, idx") if "idx" in fields else None


def _read_nemo_rl(fields: Fields) -> Rollout:
    """One sample."""
    prompt, completion = _conversation(fields)
    reward = fields.get("filtered_rewards", fields.get("rewards"))
    return trainer.rollout(
        "NeMo RL",
        completion,
        trainer.rest(fields, _NEMO_RL_TAKEN) | chat.turns(prompt, completion),
        trainer.number(_only(reward)),
        task_id=_nemo_rl_id(fields, prompt),
        step=field.optional_whole(fields, "step"),
    )


def _nemo_rl_prompt(fields: Fields) -> str:
    return chat.prompt_text(_conversation(fields)[0])


def _names_in_path(path: str) -> Fields:
    found = _DATA_STEP.search(path)
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


def _nemo_rl_id(fields: Fields, prompt: list[chat.Message]) -> str:
    """Made from the prompt; a row without one, as some versions write, has its number in the file."""
    if prompt:
        return field.id_from_prompt(chat.prompt_text(prompt))
    number = field.optional_identifier(fields, "idx")
    if number is None:
        raise RecordError("the row has neither a prompt nor an idx: add the prompt to its content")
    return f"row-{number}"


NEMO_RL = Format(
    name="nemo_rl",
    title="NeMo RL: train_data_step and val_data_step, content, rewards",
    claim_rollout=_claim_nemo_rl,
    read_rollouts=one_per_row(_read_nemo_rl),
    read_prompt=_nemo_rl_prompt,
    from_name=_names_in_path,
)
