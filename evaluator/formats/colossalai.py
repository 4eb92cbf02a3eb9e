"""ColossalAI (coati): tasks with `in_outs` or `test_cases`, its evaluation logs, and the rollouts that it logs.

Tasks: `{"messages": {role, content} or [...], "test_cases": {"inputs": [...], "outputs": [...], "fn_name"?}}`, or the
same object (or its JSON text) as `in_outs` next to a `prompt`. Evaluation rows: `prompt, prediction, test_cases,
test_results, parsed, reward`; each is a sample and includes its task. A row without an id gets one made from its
prompt. The preamble is the header of imports that ColossalAI puts before every completion. The training step is in the
log's name (`..._training_step_20.jsonl`).

Its producer logs rollouts (`<project>_run_<group>.jsonl`). A row is `{"train_step", "rollout": [...]}`: of each prompt
of a batch the first sample, prompt and completion in one decoded text. They are separated where the chat template
begins the assistant's turn; a text without that is all completion. There is no reward and no id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats._recorded import Recorded, record, verdict_of_truth
from evaluator.formats.registry import Claim, Fields, Format, claim_by, one_per_row
from evaluator.import_headers import CONTEST
from evaluator.model import JsonValue, Kind, Mode, RecordError, Rollout, Task, Verdict, brief

_IDS = ("task_id", "id", "problem_id")
_TAKEN = {"prompt", "messages", "question", "in_outs", "test_cases", "preamble", *_IDS}
_SAMPLE_FIELDS = {
    "prediction", "parsed", "test_results", "test_metadata", "format_valid", "ans_valid", "response_length",
    "reward", "train_step",
}  # fmt: skip
_KEPT = ("parsed", "test_results", "test_metadata", "format_valid", "ans_valid", "response_length")
_CODES = {0: Verdict.WRONG_ANSWER, -1: Verdict.TIME_LIMIT, -2: Verdict.COMPILE_ERROR}
"""-1 is also an exception; then `test_metadata` has its `error`."""
_TURN = re.compile(r"(?:^|\n)(?:<\|im_start\|>)?assistant\n")
_RUN = re.compile(r"(.+)_run_(.+)")
_FULL_REWARD = 10
"""ColossalAI's reward for a completion that passes, before its length penalty."""


def _claim_task(fields: Fields) -> Claim | None:
    if "completion" in fields:
        return None
    if fields.get("in_outs"):
        return Claim(1, "in_outs")
    cases = fields.get("test_cases") or None
    fits = isinstance(cases, str) or (isinstance(cases, dict) and {"inputs", "outputs"} <= cases.keys())
    return Claim(2, "test_cases with inputs and outputs") if fits else None


def read_task(fields: Fields) -> Task:
    """One task, of mode call if it has `fn_name`. `inputs` and `outputs` are as in the native format."""
    name = next((name for name in ("in_outs", "test_cases") if fields.get(name)), "in_outs")
    cases = field.optional_object(fields, name, field.IN_OUTS)
    prompt = _prompt(fields)
    mode = Mode.STDIN if (cases or {}).get("fn_name") is None else Mode.CALL
    row: dict[str, JsonValue] = {"task_id": _task_id(fields, prompt), "mode": mode, "prompt": prompt}
    row |= {"in_outs": cases, "source": "ColossalAI", "preamble": field.preamble(fields, CONTEST)}
    task = Task.from_row(row)
    task.metadata = field.without(fields, _TAKEN | _SAMPLE_FIELDS)
    return task


def _read_rollout(fields: Fields) -> Rollout:
    """The sample of one evaluation row. It passed if all its `test_results` are 1 (or true)."""
    prediction = fields.get("prediction")
    if not isinstance(prediction, str):
        raise RecordError("prediction is missing: add the text that the model wrote")
    rollout = Rollout(
        task_id=_task_id(fields, _prompt(fields)),
        completion=prediction,
        sample_id=field.optional_identifier(fields, "sample_id") or "",
        model=field.optional_identifier(fields, "model"),
        step=field.optional_whole(fields, "train_step"),
        expected_pass=_passed(fields),
        given_reward=field.optional_number(fields, "reward"),
        metadata={name: fields[name] for name in _KEPT if name in fields},
    )
    return record(rollout, _grade(fields, rollout.expected_pass))


def _prompt(fields: Fields) -> str:
    for name in ("prompt", "messages", "question"):
        if fields.get(name):
            return field.conversation_text(fields[name], name, whole=True)
    return ""


def _task_id(fields: Fields, prompt: str) -> str:
    missing = "the row has neither an id nor a prompt: add a task_id"
    return field.own_id(fields, _IDS) or field.id_of_prompt(prompt, missing)


def _passed(fields: Fields) -> bool | None:
    results = fields.get("test_results")
    if isinstance(results, list) and results:
        return all(result == 1 for result in results)
    reward = fields.get("reward")
    if reward in (0, _FULL_REWARD):
        return bool(reward)
    return None


def _grade(fields: Fields, passed: bool | None) -> Recorded | None:
    """By the code of the first test that is not 1, else by the reward."""
    if passed is None:
        return None
    results = fields.get("test_results")
    if passed or not isinstance(results, list) or not results:
        word = "1" if isinstance(results, list) and results else f"reward {fields.get('reward')}"
        return Recorded(verdict_of_truth(passed), word, "ColossalAI")
    code = next(result for result in results if result != 1)
    verdict = _CODES.get(code, Verdict.WRONG_ANSWER) if isinstance(code, int) else Verdict.WRONG_ANSWER
    account = fields.get("test_metadata")
    if code == -1 and isinstance(account, dict) and account.get("error"):
        verdict = Verdict.RUNTIME_ERROR
    return Recorded(verdict, str(code).lower(), "ColossalAI")


def _read_logged(fields: Fields) -> Iterator[Rollout]:
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


def _run_in_name(path: str) -> Fields:
    found = _RUN.fullmatch(PurePath(path).name.split(".")[0])
    return {"project": found[1], "run": found[2]} if found else {}


FORMAT = Format(
    name="colossalai",
    title="ColossalAI: in_outs or test_cases; evaluation logs",
    claim_task=_claim_task,
    read_task=read_task,
    claim_rollout=claim_by(3, "prompt, prediction", "test_cases, test_results, parsed, reward"),
    read_rollouts=one_per_row(_read_rollout),
    repeats_tasks=True,
    from_name=trainer.step_in(r"_training_step_(\d{1,18})\b[^/]*\Z", "train_step"),
)
LOGGED_ROLLOUTS = Format(
    name="colossalai_rollouts",
    title="ColossalAI: logged rollouts, train_step, rollout",
    claim_rollout=claim_by(3, "train_step, rollout"),
    read_rollouts=_read_logged,
    from_name=_run_in_name,
)
