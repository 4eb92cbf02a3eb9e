"""The logs of evaluation frameworks: inspect_ai and lm-evaluation-harness.

inspect_ai writes logs as `.eval` (a ZIP archive, one member a sample) and as `.json` (one object). A sample has `id`,
`epoch`, `input`, `target`, `messages`, `output` and `scores`, `{scorer: {value, answer, explanation}}`. The values C
and I (and true and false) are a verdict, P half a reward, N no answer; a number is a reward on the scorer's own scale.
The model and the task are in the log's header. `metadata` or `target` may have tests.

lm-evaluation-harness logs the samples of tasks that generate text (`samples_<task>_<date>.jsonl`). A row has `doc` (the
dataset's row), `arguments` (the prompt first), `resps` (one list of responses), `filtered_resps`, and each metric's
value. Of code tasks the completion is the filtered response, which was graded, of all others the response. A metric
belongs to all responses of a row: where there are several, it is a verdict only if all passed or none did. Each filter
of a task has rows of its own.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import IO

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.compression import MemberError, read_member
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.problems import FormatError, Problem, one_line
from evaluator.formats.registry import Claim, ContainerKind, Fields, Format, Row, claim_by
from evaluator.formats.tests_alone import task_of_code
from evaluator.model import JsonValue, Kind, RecordError, Rollout, Task, Verdict, brief

_VALUES: Mapping[str, tuple[Verdict, float]] = {
    "C": (Verdict.PASSED, 1.0),
    "I": (Verdict.WRONG_ANSWER, 0.0),
    "P": (Verdict.WRONG_ANSWER, 0.5),
    "N": (Verdict.NO_CODE, 0.0),
}
"""inspect_ai's words, with the numbers that it gives them."""
_INSPECT_TAKEN = {
    "id", "epoch", "input", "messages", "output", "scores", "eval", "events", "events_data", "attachments",
    "transcript", "store", "timelines", "model_usage", "role_usage",
}  # fmt: skip
_ATTACHMENT = "attachment://"
_ASSERT = re.compile(r"\s*assert\b")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_MOST_BYTES = 64 * 1024 * 1024
"""Of one sample, most of which is its events."""


def _claim_inspect(fields: Fields) -> Claim | None:
    if {"eval", "status"} <= fields.keys():
        return Claim(3, "version, status, eval, samples")
    return Claim(3, "id, epoch, input, output, scores") if {"id", "epoch", "input", "output"} <= fields.keys() else None


def _claim_inspect_task(fields: Fields) -> Claim | None:
    one = "epoch" in fields and _claim_inspect(fields) is not None
    return Claim(2, "tests in metadata or target") if one and task_of_sample(fields) is not None else None


def _read_inspect_task(fields: Fields) -> Task:
    """The task of one sample, where its metadata or its target has tests."""
    task = task_of_sample(fields)
    if task is None:
        raise RecordError("the sample's metadata and target have no tests: name a dataset")
    task.task_id, task.prompt = field.identifier(fields, "id"), task.prompt or _inspect_prompt(fields)
    return task


def task_of_sample(fields: Fields) -> Task | None:
    """The task that a sample's `metadata` and `target` describe; None if they have no tests.

    The metadata is a known dataset's row, has tests in a shape that trainers use, or has test code as `test`; else the
    target is asserts (as in MBPP and APPS). `id` becomes the row's `task_id`.
    """
    metadata = field.inner(fields, "metadata")
    known = trainer.dataset_task({"task_id": fields.get("id"), **metadata})
    if known is not None:
        return known
    tests = trainer.tests_in(fields.get("metadata"))
    if tests is not None:
        return trainer.task_with(tests, "task", "", "inspect_ai")
    test = metadata.get("test")
    try:
        if not isinstance(test, str):
            return _task_of_target(fields.get("target"))
        task = task_of_code(test, "task")
    except RecordError:
        return None
    task.metadata = field.without(metadata, {"test"})
    return task


def _task_of_target(target: JsonValue) -> Task | None:
    """The task of a target that is asserts: one text, or one for each."""
    texts = [target] if isinstance(target, str) else target
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return None
    return task_of_code("\n".join(texts), "task") if all(map(_ASSERT.match, texts)) else None


def _read_inspect(fields: Fields) -> Iterator[Rollout]:
    """The rollout of a sample, or of each sample in a log."""
    if "epoch" in fields:
        yield _rollout(fields, fields.get("eval"))
        return
    samples = fields.get("samples")
    if not isinstance(samples, list) or not samples:
        raise RecordError(f"the log has no samples (its status is {brief(fields.get('status'))})")
    for sample in trainer.objects(samples, "samples"):
        yield _rollout(sample, fields.get("eval"))


def _inspect_prompt(fields: Fields) -> str:
    """The input of one sample; empty for a log, whose rollouts have theirs in their conversation."""
    return chat.prompt_text(_input(_attached(fields))) if "epoch" in fields else ""


def sample_rows(path: Path) -> Iterator[Row | Problem]:
    """The samples of an `.eval` file, each with its log's `eval`. Raises `FormatError` if it is not a whole archive."""
    name = one_line(str(path))
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise FormatError(f"{name}: can't be read: {error}: is inspect_ai still writing it?") from None
        with archive:
            members = {member.filename: member for member in archive.infolist()}
            header = _header(archive, file, members)
            samples = [member for member in members.values() if _SAMPLE.fullmatch(member.filename)]
            for number, member in enumerate(samples, start=1):
                try:
                    sample = decode_json(read_member(archive, file, member, _MOST_BYTES))
                except (MemberError, JsonError) as error:
                    yield Problem(name, number, f"{one_line(member.filename)} {error}: it is skipped")
                    continue
                if isinstance(sample, dict):
                    yield Row(number, {**sample, "eval": header})
                else:
                    yield Problem(name, number, f"{one_line(member.filename)} must be a JSON object: it is skipped")


def _header(archive: zipfile.ZipFile, file: IO[bytes], members: Mapping[str, zipfile.ZipInfo]) -> JsonValue:
    """What the log says of the whole evaluation. One that did not end has it in its journal."""
    for name in ("header.json", "_journal/start.json"):
        if name in members:
            try:
                header = decode_json(read_member(archive, file, members[name], _MOST_BYTES))
            except (MemberError, JsonError):
                continue
            return header.get("eval") if isinstance(header, Mapping) else None
    return None


def _rollout(fields: Fields, log: JsonValue) -> Rollout:
    sample = _attached(fields)
    header = log if isinstance(log, Mapping) else {}
    asked = _input(sample)
    messages = chat.messages_of(sample.get("messages") or None, "messages", "user")
    prompt, completion = chat.split_at_answer(messages or asked)
    answer = _answer(sample)
    if answer and not completion:
        completion = [{"role": "assistant", "content": answer}]
    reward, verdict, word, metadata = _scores(sample.get("scores"))
    metadata = trainer.rest(sample, _INSPECT_TAKEN) | metadata | {"messages": [*prompt, *completion]}
    metadata |= {f"inspect_{name}": header[name] for name in ("task", "run_id") if header.get(name)}
    usage = field.inner(sample, "output").get("usage")
    metadata |= {"usage": usage} if isinstance(usage, Mapping) else {}
    epoch = field.optional_whole(sample, "epoch")
    return Rollout(
        task_id=field.identifier(sample, "id"),
        completion=answer or chat.answer_text(completion),
        sample_index=None if epoch is None else epoch - 1,
        model=field.optional_identifier(header, "model"),
        group=field.identifier(sample, "id"),
        metadata=metadata,
        **trainer.grade("inspect_ai", reward, verdict, word),
    )


def _input(sample: Fields) -> list[chat.Message]:
    return chat.messages_of(sample.get("input"), "input", "user")


def _answer(sample: Fields) -> str:
    """The text of the output's first choice."""
    choices = field.inner(sample, "output").get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return chat.answer_text(chat.messages_of(first.get("message"), "output", "assistant")) if first else ""


def _scores(scores: JsonValue) -> tuple[float | None, Verdict | bool | None, str | None, dict[str, JsonValue]]:
    """The reward, the verdict and the word if there is one scorer, and all scores for the metadata."""
    found = {name: score for name, score in scores.items() if isinstance(score, Mapping)} if scores else {}
    metadata: dict[str, JsonValue] = {"scores": found} if found else {}
    if len(found) == 1:
        value = next(iter(found.values())).get("value")
        if isinstance(value, Mapping):
            values = {str(name): part for name, (part, _) in zip(value, map(_value, value.values()), strict=True)}
            return None, None, None, metadata | _components(values)
        return *_value(value), brief(value) if not isinstance(value, str) else value, metadata
    values = {name: _value(score.get("value"))[0] for name, score in found.items()}
    words = ", ".join(f"{name}={score.get('value')}" for name, score in found.items())
    return None, None, words or None, metadata | _components(values)


def _components(values: Mapping[str, float | None]) -> dict[str, JsonValue]:
    numbers = {name: value for name, value in values.items() if value is not None}
    return {"reward_components": numbers} if numbers else {}


def _value(value: JsonValue) -> tuple[float | None, Verdict | bool | None]:
    if isinstance(value, str) and value in _VALUES:
        verdict, reward = _VALUES[value]
        return reward, verdict
    return trainer.number(value), value if isinstance(value, bool) else None


def _attached(sample: Fields) -> Fields:
    """The sample with long texts put back, which the log keeps once each."""
    texts = sample.get("attachments")
    if not isinstance(texts, Mapping) or not texts:
        return sample
    names = ("input", "messages", "output")
    return {name: _put_back(value, texts) if name in names else value for name, value in sample.items()}


def _put_back(value: JsonValue, texts: Fields) -> JsonValue:
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return texts.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_put_back(item, texts) for item in value]
    if isinstance(value, Mapping):
        return {name: _put_back(part, texts) for name, part in value.items()}
    return value


def _is_log(head: bytes, name: str) -> bool:
    """A ZIP archive whose first member is one of a log's."""
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")] if head.startswith(b"PK\x03\x04") else b""
    return bool(first) and (first.startswith((b"_journal/", b"samples/")) or name.endswith(".eval"))


INSPECT_AI = Format(
    name="inspect_ai",
    title="inspect_ai: .eval and .json logs, id, epoch, input, output, scores",
    claim_task=_claim_inspect_task,
    read_task=_read_inspect_task,
    claim_rollout=_claim_inspect,
    read_rollouts=_read_inspect,
    repeats_tasks=True,
    read_prompt=_inspect_prompt,
)
CONTAINER = ContainerKind(name="inspect_ai log", claims=_is_log, open=sample_rows)


_VERDICTS = ("pass@1", "pass_at_1", "exact_match", "acc")
"""Metrics whose 1 means that all is right, likeliest first."""
_LM_EVAL_TAKEN = {"doc_id", "doc", "arguments", "resps", "filtered_resps", "metrics", "eval_task", "model", "step"}
_IDS = ("task_id", "question_id", "problem_id")
_NAME = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[^/]*")


_claim_lm_eval = claim_by(3, "doc_id, doc, resps, filtered_resps")


def _claim_lm_eval_task(fields: Fields) -> Claim | None:
    return Claim(2, "doc with tests") if _claim_lm_eval(fields) and _task(fields) else None


def _read_lm_eval_task(fields: Fields) -> Task:
    """The task of one row, where its `doc` is a known dataset's row or has tests."""
    task = _task(fields)
    if task is None:
        raise RecordError("doc has no tests: name a dataset")
    task.task_id = _task_id(fields)
    return task


def _read_lm_eval(fields: Fields) -> Iterator[Rollout]:
    """One rollout for each response of a row. Raises `RecordError` for a task that is scored by likelihood."""
    responses = _responses(fields.get("resps"))
    metrics = _metrics(fields)
    runs_code = any(name.startswith("pass") for name in metrics)
    graded = _graded(fields.get("filtered_resps"), len(responses)) if runs_code else []
    metadata = trainer.rest(fields, {*_LM_EVAL_TAKEN, *metrics})
    if _task(fields) is None:
        metadata["doc"] = fields.get("doc")
    if len(metrics) > 1:
        metadata["reward_components"] = dict(metrics)
    name = next((name for name in _VERDICTS if name in metrics), None)
    if name is None and len(metrics) == 1:
        name = next(iter(metrics))
    by = f"lm-evaluation-harness ({fields['filter']})" if isinstance(fields.get("filter"), str) else None
    for place, response in enumerate(responses):
        own = {"response": response} if graded and graded[place] != response else {}
        yield Rollout(
            task_id=_task_id(fields),
            completion=graded[place] if graded else response,
            kind=Kind.FULL if graded else None,
            model=field.optional_identifier(fields, "model"),
            metadata=metadata | own | ({} if graded else {"filtered": fields.get("filtered_resps")}),
            **_grade(name, metrics, len(responses), by or "lm-evaluation-harness"),
        )


def _lm_eval_prompt(fields: Fields) -> str:
    """The first argument of the first request: text, or messages as JSON text."""
    arguments = fields.get("arguments")
    request = next(iter(arguments.values() if isinstance(arguments, Mapping) else arguments or ()), None)
    first = next(iter(request.values() if isinstance(request, Mapping) else request or ()), None)
    while isinstance(first, list) and len(first) == 1 and isinstance(first[0], str):
        first = first[0]
    if not isinstance(first, str):
        return ""
    try:
        messages = decode_json(first) if first.startswith("[{") else None
    except JsonError:
        return first
    return chat.prompt_text(chat.messages_of(messages, "arguments", "user")) if messages else first


def _names_in_path(path: str) -> Fields:
    """The task of `samples_<task>_<date>.jsonl`, and the model, after which its folder is named."""
    name = PurePath(path)
    found = _NAME.match(name.name)
    if not found:
        return {}
    folder = name.parent.name
    return {"eval_task": found[1]} | ({"model": folder.replace("__", "/")} if "__" in folder else {})


def _responses(resps: JsonValue) -> list[str]:
    first = resps[0] if isinstance(resps, list) and len(resps) == 1 else None
    texts = [first] if isinstance(first, str) else first
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise RecordError("resps has no generated text: tasks that are scored by likelihood have no completions")
    return texts


def _graded(filtered: JsonValue, count: int) -> list[str]:
    """The texts that were graded, where the filter made one of each response: the code of a code task."""
    texts = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else None
    fits = isinstance(texts, list) and len(texts) == count and all(isinstance(text, str) for text in texts)
    return texts if isinstance(texts, list) and fits else []


def _metrics(fields: Fields) -> dict[str, float]:
    names = fields.get("metrics")
    if not isinstance(names, list):
        names = [name for name in fields if name in _VERDICTS]
    found = ((name, trainer.number(fields.get(name))) for name in names if isinstance(name, str))
    return {name: value for name, value in found if value is not None}


def _grade(name: str | None, metrics: Mapping[str, float], responses: int, by: str) -> dict[str, JsonValue]:
    value = metrics[name] if name else None
    decided = name in _VERDICTS and (value in (0, 1) or responses == 1)
    reward = value if decided or responses == 1 else None
    return trainer.grade(by, reward, value == 1 if decided else None, f"{name}={value}" if decided else None)


def _task(fields: Fields) -> Task | None:
    doc = fields.get("doc")
    known = trainer.dataset_task(doc)
    if known is not None:
        return known
    tests = trainer.tests_in(doc)
    return None if tests is None else trainer.task_with(tests, "task", _lm_eval_prompt(fields), "lm-evaluation-harness")


def _task_id(fields: Fields) -> str:
    """The dataset's, which is in its row; else the number in the task, or made from the prompt."""
    doc = fields.get("doc")
    own = field.own_id(doc, _IDS) if isinstance(doc, Mapping) else None
    if own is not None:
        return own
    task, number = field.optional_identifier(fields, "eval_task"), field.optional_identifier(fields, "doc_id")
    if task and number is not None:
        return f"{task}/{number}"
    prompt = _lm_eval_prompt(fields)
    if not prompt and number is None:
        raise RecordError("the row has neither a doc_id nor a prompt: add one")
    return field.id_from_prompt(prompt) if prompt else f"doc-{number}"


LM_EVAL = Format(
    name="lm_eval",
    title="lm-evaluation-harness: samples, doc_id, doc, resps, filtered_resps",
    claim_task=_claim_lm_eval_task,
    read_task=_read_lm_eval_task,
    claim_rollout=_claim_lm_eval,
    read_rollouts=_read_lm_eval,
    repeats_tasks=True,
    read_prompt=_lm_eval_prompt,
    from_name=_names_in_path,
)
