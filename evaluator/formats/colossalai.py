"""ColossalAI (coati): tasks with `in_outs` or `test_cases`, its evaluation logs, and the rollouts that it logs.

`in_outs` or `test_cases` are an object or its JSON text. Logged rollouts have, of each prompt of a batch, the first
sample: prompt and completion in one decoded text, which are separated where the chat template begins the assistant's
turn. A text without that is all completion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format, step_in
from evaluator.formats.reading.spec import Recorded, Rollouts, Tasks, any_of, claims, taken, verdict_of_truth
from evaluator.model import JsonValue, Kind, RecordError, Verdict, brief
from evaluator.tasks.import_headers import CONTEST

_CODES = {0: Verdict.WRONG_ANSWER, -1: Verdict.TIME_LIMIT, -2: Verdict.COMPILE_ERROR}
"""-1 is also an exception; then `test_metadata` has its `error`."""
_TURN = re.compile(r"(?:^|\n)(?:<\|im_start\|>)?assistant\n")
_RUN = re.compile(r"(.+)_run_(.+)")
_FULL_REWARD = 10
"""ColossalAI's reward for a completion that passes, before its length penalty."""
_IDS, _PROMPTS, _TESTS = "task_id|id|problem_id|", "prompt|messages|question", "in_outs|test_cases"


def _has_cases(fields: Fields) -> bool:
    cases = fields["test_cases"]
    return bool(cases) if isinstance(cases, str) else isinstance(cases, dict) and {"inputs", "outputs"} <= cases.keys()


def _grade(fields: Fields) -> Recorded | None:
    """By the code of the first test that is not 1, else by the reward. It passed if all are 1 (or true)."""
    results, reward = fields.get("test_results"), fields.get("reward")
    if not isinstance(results, list) or not results:
        return Recorded(verdict_of_truth(bool(reward)), f"reward {reward}") if reward in (0, _FULL_REWARD) else None
    code = next((result for result in results if result != 1), 1)
    if code == 1:
        return Recorded(Verdict.PASSED, "1")
    verdict = _CODES.get(code, Verdict.WRONG_ANSWER) if isinstance(code, int) else Verdict.WRONG_ANSWER
    if code == -1 and field.inner(fields, "test_metadata").get("error"):
        verdict = Verdict.RUNTIME_ERROR
    return Recorded(verdict, str(code).lower())


FORMAT = Format(
    name="colossalai",
    title="ColossalAI: in_outs or test_cases; evaluation logs",
    tasks=Tasks(
        claim=any_of(
            claims("1: in_outs:some, !completion", lambda fields: fields["in_outs"]),
            claims("2: test_cases, (with inputs and outputs), !completion", _has_cases),
        ),
        task_id=_IDS,
        prompt=_PROMPTS,
        in_outs=lambda fields: taken(fields, _TESTS) or {},
        preamble=CONTEST,
        same="limits",
        source="ColossalAI",
        left_out=(
            "in_outs, test_cases, prediction, parsed, test_results, test_metadata, format_valid, ans_valid, "
            "response_length, reward, train_step"
        ),
    ),
    rollouts=Rollouts(
        claim=claims("3: prompt, prediction, test_cases+test_results+parsed+reward"),
        completion="prediction",
        task_id=_IDS,
        prompt=_PROMPTS,
        step="train_step",
        reward="reward",
        grade=_grade,
        by="ColossalAI",
        left_out="in_outs, test_cases, preamble",
    ),
    from_name=step_in(r"_training_step_(\d{1,18})\b[^/]*\Z", "train_step"),
)

read_task = FORMAT.tasks.read


def _texts(fields: Fields) -> Iterator[Fields | RecordError]:
    """Prompt and completion of each text."""
    texts = fields.get("rollout")
    if not isinstance(texts, list):
        raise RecordError(f"rollout must be a list of texts, not {brief(texts)}")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            yield RecordError(f"rollout[{place}] must be text, not {brief(text)}")
            continue
        turn = _TURN.search(text)
        prompt, completion = (text[: turn.start()], text[turn.end() :]) if turn else ("", text)
        yield {**fields, "prompt": prompt, "completion": completion, "whole": prompt or text}


def _asked(sample: Fields) -> dict[str, JsonValue]:
    return {"prompt": [{"role": "user", "content": sample["prompt"]}]} if sample["prompt"] else {}


def _run_in_name(path: str) -> Fields:
    found = _RUN.fullmatch(PurePath(path).name.split(".")[0])
    return {"project": found[1], "run": found[2]} if found else {}


LOGGED_ROLLOUTS = Format(
    name="colossalai_rollouts",
    title="ColossalAI: logged rollouts, train_step, rollout",
    rollouts=Rollouts(
        claim=claims("3: train_step, rollout"),
        each=_texts,
        task_id="",
        prompt="whole",
        kind=Kind.CHAT,
        step="train_step",
        metadata=_asked,
        left_out="rollout, prompt",
    ),
    from_name=_run_in_name,
)
