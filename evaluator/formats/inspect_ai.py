"""inspect_ai: its logs, as `.eval` (a ZIP archive, one member a sample) and as `.json` (one object).

A sample has `id`, `epoch`, `input`, `target`, `messages`, `output` and `scores`, `{scorer: {value, answer,
explanation}}`. The values C and I (and true and false) are a verdict, P half a reward, N no answer; a number is a
reward on the scorer's own scale. The model and the task are in the log's header. `metadata` or `target` may have tests.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from evaluator.formats import _chat as chat
from evaluator.formats import _trainer_rows as trainer
from evaluator.formats import fields as field
from evaluator.formats.compression import MemberError, read_member
from evaluator.formats.json_text import JsonError, decode_json
from evaluator.formats.problems import FormatError, Problem, one_line
from evaluator.formats.registry import Claim, ContainerKind, Fields, Format, Row
from evaluator.formats.tests_alone import task_of_code
from evaluator.model import JsonValue, RecordError, Rollout, Task, Verdict, brief

_VALUES: Mapping[str, tuple[Verdict, float]] = {
    "C": (Verdict.PASSED, 1.0),
    "I": (Verdict.WRONG_ANSWER, 0.0),
    "P": (Verdict.WRONG_ANSWER, 0.5),
    "N": (Verdict.NO_CODE, 0.0),
}
"""inspect_ai's words, with the numbers that it gives them."""
_TAKEN = {
    "id", "epoch", "input", "messages", "output", "scores", "eval", "events", "events_data", "attachments",
    "transcript", "store", "timelines", "model_usage", "role_usage",
}  # fmt: skip
_ATTACHMENT = "attachment://"
_ASSERT = re.compile(r"\s*assert\b")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_MOST_BYTES = 64 * 1024 * 1024
"""Of one sample, most of which is its events."""


def claim_rollout(fields: Fields) -> Claim | None:
    if {"eval", "status"} <= fields.keys():
        return Claim(3, "version, status, eval, samples")
    return Claim(3, "id, epoch, input, output, scores") if {"id", "epoch", "input", "output"} <= fields.keys() else None


def claim_task(fields: Fields) -> Claim | None:
    one = "epoch" in fields and claim_rollout(fields) is not None
    return Claim(2, "tests in metadata or target") if one and task_of_sample(fields) is not None else None


def read_task(fields: Fields) -> Task:
    """The task of one sample, where its metadata or its target has tests."""
    task = task_of_sample(fields)
    if task is None:
        raise RecordError("the sample's metadata and target have no tests: name a dataset")
    task.task_id, task.prompt = field.identifier(fields, "id"), task.prompt or read_prompt(fields)
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


def read_rollouts(fields: Fields) -> Iterator[Rollout]:
    """The rollout of a sample, or of each sample in a log."""
    if "epoch" in fields:
        yield _rollout(fields, fields.get("eval"))
        return
    samples = fields.get("samples")
    if not isinstance(samples, list) or not samples:
        raise RecordError(f"the log has no samples (its status is {brief(fields.get('status'))})")
    for sample in trainer.objects(samples, "samples"):
        yield _rollout(sample, fields.get("eval"))


def read_prompt(fields: Fields) -> str:
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
    metadata = trainer.rest(sample, _TAKEN) | metadata | {"messages": [*prompt, *completion]}
    metadata |= {f"inspect_{name}": header[name] for name in ("task", "run_id") if header.get(name)}
    usage = sample.get("output", {}).get("usage") if isinstance(sample.get("output"), Mapping) else None
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
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, Mapping) else None
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


def claims(head: bytes, name: str) -> bool:
    """A ZIP archive whose first member is one of a log's."""
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")] if head.startswith(b"PK\x03\x04") else b""
    return bool(first) and (first.startswith((b"_journal/", b"samples/")) or name.endswith(".eval"))


FORMAT = Format(
    name="inspect_ai",
    title="inspect_ai: .eval and .json logs, id, epoch, input, output, scores",
    claim_task=claim_task,
    read_task=read_task,
    claim_rollout=claim_rollout,
    read_rollouts=read_rollouts,
    repeats_tasks=True,
    read_prompt=read_prompt,
)
CONTAINER = ContainerKind(name="inspect_ai log", claims=claims, open=sample_rows)
