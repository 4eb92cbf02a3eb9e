"""TRL, verl, NeMo RL, open-r1 and SYNTHETIC-1: what these trainers log of each step, and the tasks that they are given.

TRL's reward functions are the columns of numbers right after the completion. Its file does not have their weights: the
reward is their sum, TRL's default. verl drops special tokens on decoding. NeMo RL writes each value as a list of one;
training rows have the conversation's texts without their roles. With dynamic sampling `filtered_rewards` is this row's
and `rewards` may be another's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format, step_in
from evaluator.formats.reading.spec import Recorded, Rollouts, Said, Tasks, any_of, claims, verdict_of_truth
from evaluator.formats.tests_alone import task_from
from evaluator.model import JsonValue, RecordError, Task, Verdict

_NO_REWARDS = ("step", "prompt", "completion", "advantage", "advantages", "kl", "task_id", "problem_id")
_TOTALS = ("reward", "rewards", "total_reward")


def _rewards(fields: Fields) -> Mapping[str, float]:
    """Each reward function's reward, in the file's order; without those that gave none."""
    found: dict[str, float] = {}
    for name, value in fields.items():
        if name in _NO_REWARDS:
            continue
        number = field.number_in(value)  # a cell of CSV is text
        if value is not None and not isinstance(number, float) and name not in _TOTALS:
            break
        given = field.number(number)
        if given is not None and math.isfinite(given):
            found[name] = given
    return found


def _total(fields: Fields) -> float | None:
    rewards = _rewards(fields)
    named = next((rewards[name] for name in _TOTALS if name in rewards), None)
    return named if named is not None else math.fsum(rewards.values()) if rewards else None


def _functions(fields: Fields) -> dict[str, float]:
    """The rewards that are parts of the sum."""
    rewards = _rewards(fields)
    return {name: value for name, value in rewards.items() if name not in _TOTALS} if len(rewards) > 1 else {}


def _our_verdict(fields: Fields, ending: str) -> Recorded | None:
    """What our own reward function logged, the first if there are several."""
    logged = (value for name, value in fields.items() if name.endswith(ending) and isinstance(value, str))
    word = next((value for value in logged if value in set(Verdict)), None)
    return Recorded(Verdict(word), word) if word else None


_TRL = Rollouts(
    claim=any_of(
        claims("3: step, prompt, completion, advantage, !task_id"),
        claims("2: step, prompt, completion, (rewards), !task_id", _rewards),
    ),
    said=trainer.conversation,
    task_id="task_id|problem_id|",
    reward=_total,
    parts=_functions,
    grade=lambda fields: _our_verdict(fields, "/verdict"),
    by="TRL",
    left_out=_rewards,
)
TRL = Format(
    name="trl",
    title="TRL: logged completions, step, prompt, completion, rewards, advantage",
    tasks=trainer.tasks_in(
        _TRL, lambda row: trainer.tests_in(dict(row)), "step, prompt, completion and a column of tests"
    ),
    rollouts=_TRL,
    from_name=step_in(r"completions_(\d{1,18})\.[a-z]+"),
)


def _verl_again(fields: Fields) -> list[str]:
    """Validation repeats the score as `reward`."""
    return ["reward"] if field.number(fields.get("reward")) == field.number(fields.get("score")) else []


def _verl_grade(fields: Fields) -> Recorded | None:
    """`acc` is 1 if it passed, unless our own reward function has a verdict."""
    ours, acc = _our_verdict({"verdict": fields.get("verdict")}, "verdict"), fields.get("acc")
    share = field.number(acc)
    if ours is not None or share is None or not 0 <= share <= 1:
        return ours
    return Recorded(verdict_of_truth(share == 1), f"acc={acc}")


def _ground_truth(fields: Fields) -> Fields:
    """As metadata, where it is no tests."""
    tests = fields.get("gts")
    return {} if tests is None or trainer.tests_in(tests) is not None else {"gts": tests}


_VERL = Rollouts(
    claim=claims("3: input, output, gts, score; 2: input, output, score"),
    completion="output",
    prompt="input",
    task_id="",
    group="uid",
    reward="score",
    parts=lambda fields: trainer.parts(fields, {"score", *_verl_again(fields)}),
    grade=_verl_grade,
    by="verl",
    left_out=lambda fields: ["gts", *_verl_again(fields)],
    metadata=_ground_truth,
)
VERL = Format(
    name="verl",
    title="verl: rollout and validation dumps, input, output, gts, score",
    tasks=trainer.tasks_in(_VERL, lambda row: trainer.tests_in(row.get("gts")), "gts with tests"),
    rollouts=_VERL,
    from_name=step_in(r"(?:^|/)(\d{1,18})\.jsonl"),
)


_PROMPTS = "prompt|problem|problem_statement|question"


_NOT_OF_TASK = {
    "verification_info", "source", "gold_standard_solution", "task_id", "problem_id", "id",
    "llm_response", "response_id", "score",
}  # fmt: skip


def _read_open_r1(fields: Fields) -> Task:
    """One task. Raises `RecordError` if its language is not Python."""
    if fields.get("verification_info") is None:
        raise RecordError("verification_info is null: add the test cases")
    about = _OPEN_R1_PROMPT
    task = task_from(fields["verification_info"], about.task_id_of(fields))
    task.prompt, task.source = about.prompt_of(fields), field.text(fields, "source") or "open-r1"
    solution = field.text(fields, "gold_standard_solution")
    task.reference = trainer.without_fence(solution) or None
    asked = next((name for name in _PROMPTS.split("|") if fields.get(name)), "")
    task.metadata = field.kept(fields, {asked, *_NOT_OF_TASK})
    return task


def _score(fields: Fields) -> Recorded | None:
    score = field.number(field.number_in(fields.get("score")))
    return None if score is None else Recorded(verdict_of_truth(score >= 1), f"score {fields['score']}")


_OPEN_R1_PROMPT = Rollouts(task_id="task_id|problem_id|id|", prompt=_PROMPTS)
OPEN_R1 = Format(
    name="open_r1",
    title="open-r1, SYNTHETIC-1: tasks with verification_info; responses with llm_response, score",
    tasks=Tasks(
        claim=claims(
            f"3: {_PROMPTS}, verification_info, !completion, !llm_response; "
            f"2: {_PROMPTS}, verification_info, llm_response"
        ),
        code=_read_open_r1,
    ),
    rollouts=Rollouts(
        claim=claims("3: llm_response, verification_info|score"),
        completion="llm_response",
        prompt=_PROMPTS,
        task_id="task_id|problem_id|id|",
        sample_id="response_id",
        reward="score",
        grade=_score,
        by="SYNTHETIC-1",
        left_out="verification_info, gold_standard_solution, source",
    ),
)


_DATA_STEP = re.compile(r"(train|val)_data_step(\d{1,18})\.jsonl")
_SYSTEM = re.compile(r"\s*(<[^>]*>\s*)*system\b")
_USER = re.compile(r"(<[^>]*>\s*)user\b")
_COMPUTED = (
    "token_ids", "token_loss_mask", "sample_loss_mask", "advantages", "generation_logprobs", "prev_logprobs",
    "input_lengths",
)  # fmt: skip


def _only(value: JsonValue) -> JsonValue:
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _nemo_rl_said(row: Fields) -> Said:
    return row["said"] if "said" in row else _nemo_rl_conversation(row)


def _nemo_rl_conversation(fields: Fields) -> Said:
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


def _with_roles(texts: list[str]) -> Said:
    """Texts take turns: the prompt, the model, its environment, the model. A system prompt may come first."""
    if len(texts) == 1:
        return [], [{"role": "assistant", "content": texts[0]}]
    first = 2 if len(texts) > 2 and _SYSTEM.match(texts[0]) and not _USER.search(texts[0]) else 1
    prompt = [{"role": role, "content": text} for role, text in zip(("system", "user")[-first:], texts, strict=False)]
    roles = ("assistant", "environment")
    return prompt, [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts[first:])]


def _row_number(fields: Fields) -> str | None:
    """The id of a row without a prompt, as some versions write: its number in the file."""
    number = field.optional_identifier(fields, "idx")
    return None if number is None or _nemo_rl_said(fields)[0] else f"row-{number}"


def _names_in_path(path: str) -> Fields:
    found = _DATA_STEP.search(path)
    return {"step": int(found[2]), "split": found[1]} if found else {}


NEMO_RL = Format(
    name="nemo_rl",
    title="NeMo RL: train_data_step and val_data_step, content, rewards",
    rollouts=Rollouts(
        claim=claims(f"3: content, rewards, {'|'.join(sorted(_COMPUTED))}; 2: content, rewards, idx"),
        each=lambda fields: ({**fields, "said": _nemo_rl_conversation(fields)},),
        said=_nemo_rl_said,
        prompt="",
        task_id=_row_number,
        reward=lambda fields: _only(fields.get("filtered_rewards", fields.get("rewards"))),
        by="NeMo RL",
        left_out=", ".join(("said", "content", "rewards", "filtered_rewards", "idx", *_COMPUTED)),
    ),
    from_name=_names_in_path,
)
