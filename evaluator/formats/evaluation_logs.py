"""The logs of evaluation frameworks: inspect_ai and lm-evaluation-harness.

inspect_ai's values C and I (and true and false) are a verdict, P half a reward, N no answer; a number is a reward on
the scorer's own scale. lm-evaluation-harness's completion of a code task is the filtered response, which was graded, of
all others the response. A metric belongs to all responses of a row: where there are several, it is a verdict only if
all passed or none did. Each filter of a task has rows of its own.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import IO

from evaluator.formats import _trainer_rows as trainer
from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.compression import MemberError, first_member, read_member
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.json_text import JsonError, decode_json
from evaluator.formats.reading.problems import FormatError, Problem, one_line
from evaluator.formats.reading.registry import ContainerKind, Format, Row
from evaluator.formats.reading.spec import Recorded, Rollouts, Said, Tasks, claims, taken, verdict_of_truth
from evaluator.formats.tests_alone import task_of_code
from evaluator.model import JsonValue, Kind, RecordError, Task, Verdict, brief

_VALUES: Mapping[str, tuple[Verdict, float]] = {
    "C": (Verdict.PASSED, 1.0),
    "I": (Verdict.WRONG_ANSWER, 0.0),
    "P": (Verdict.WRONG_ANSWER, 0.5),
    "N": (Verdict.NO_CODE, 0.0),
}
"""inspect_ai's words, with the numbers that it gives them."""
_ATTACHMENT = "attachment://"
_ASSERT = re.compile(r"\s*assert\b")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_MOST_BYTES = 64 * 1024 * 1024
"""Of one sample, most of which is its events."""


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
    known = trainer.task_in({"task_id": fields.get("id"), **metadata}, "inspect_ai") if metadata else None
    if known is not None:
        return known
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


def _samples(fields: Fields) -> Iterator[Fields]:
    """A sample, or each sample in a log, with the log's header as `eval`."""
    samples = [fields] if "epoch" in fields else fields.get("samples")
    if not isinstance(samples, list) or not samples:
        raise RecordError(f"the log has no samples (its status is {brief(fields.get('status'))})")
    for sample in trainer.objects(samples, "samples"):
        yield {**_attached(sample), "eval": field.inner(fields, "eval")}


def _inspect_prompt(fields: Fields) -> str:
    """The input of one sample; empty for a log, whose rollouts have theirs in their conversation."""
    return chat.text_of(_attached(fields).get("input"), "input") if "epoch" in fields else ""


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


def _inspect_said(sample: Fields) -> Said:
    """The conversation, whose last answer is the output's first choice."""
    messages = taken(sample, "messages") or taken(sample, "input")
    prompt, completion = chat.split_at_answer(chat.messages_of(messages, "messages", "user"))
    answer = taken(sample, "output.choices.0.message")
    said = chat.answer_text(chat.messages_of(answer, "output", "assistant"))
    return prompt, [{"role": "assistant", "content": said}] if said and not completion else completion


def _scores(sample: Fields) -> tuple[JsonValue, dict[str, JsonValue]]:
    """The value of the only scorer; else those of several, or of one that gives several, by name."""
    scores = field.inner(sample, "scores")
    values = {name: score.get("value") for name, score in scores.items() if isinstance(score, Mapping)}
    only = next(iter(values.values())) if len(values) == 1 else None
    if isinstance(only, Mapping):
        return None, {str(name): part for name, part in only.items()}
    return (only, {}) if len(values) == 1 else (None, values)


def _reward_of(value: JsonValue) -> float | None:
    return _VALUES[value][1] if isinstance(value, str) and value in _VALUES else field.number(value)


def _parts(sample: Fields) -> dict[str, float]:
    """Of several scores there is no reward, but parts."""
    numbers = {name: _reward_of(value) for name, value in _scores(sample)[1].items()}
    return {name: value for name, value in numbers.items() if value is not None}


def _inspect_grade(sample: Fields) -> Recorded | None:
    value, several = _scores(sample)
    if isinstance(value, str):
        return Recorded(_VALUES[value][0] if value in _VALUES else None, value)
    if value is not None:
        return Recorded(verdict_of_truth(value) if isinstance(value, bool) else None, brief(value))
    words = ", ".join(f"{name}={value}" for name, value in several.items())
    return Recorded(None, words) if words and len(sample["scores"]) > 1 else None


def _about(sample: Fields) -> dict[str, JsonValue]:
    header, usage = sample["eval"], field.inner(sample, "output").get("usage")
    found = {f"inspect_{name}": header[name] for name in ("task", "run_id") if header.get(name)}
    found |= {"scores": sample["scores"]} if sample.get("scores") else {}
    return found | ({"usage": usage} if isinstance(usage, Mapping) else {})


def _epoch(sample: Fields) -> int | None:
    epoch = field.optional_whole(sample, "epoch")
    return None if epoch is None else epoch - 1


def _attached(sample: Fields) -> Fields:
    """The sample with long texts put back, which the log keeps once each."""
    texts = field.inner(sample, "attachments")
    names = [name for name in ("input", "messages", "output") if texts and name in sample]
    return {**sample, **{name: _put_back(sample[name], texts) for name in names}}


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
    first = first_member(head)
    return bool(first) and (first.startswith((b"_journal/", b"samples/")) or name.endswith(".eval"))


INSPECT_AI = Format(
    name="inspect_ai",
    title="inspect_ai: .eval and .json logs, id, epoch, input, output, scores",
    tasks=Tasks(
        claim=claims("2: id, epoch, input, output, (tests in metadata or target)", task_of_sample),
        code=_read_inspect_task,
    ),
    rollouts=Rollouts(
        claim=claims("3: eval, status, (the samples of a log); 3: id, epoch, input, output"),
        each=_samples,
        said=_inspect_said,
        all_turns=True,
        prompt=_inspect_prompt,
        task_id="id",
        sample_id="",
        sample_index=_epoch,
        group="id",
        model="eval.model",
        reward=lambda sample: _reward_of(_scores(sample)[0]),
        parts=_parts,
        grade=_inspect_grade,
        by="inspect_ai",
        metadata=_about,
        left_out=(
            "epoch, input, messages, output, scores, eval, events, events_data, attachments, transcript, store, "
            "timelines, model_usage, role_usage"
        ),
    ),
)
CONTAINER = ContainerKind(name="inspect_ai log", claims=_is_log, open=sample_rows)


_VERDICTS = ("pass@1", "pass_at_1", "exact_match", "acc")
"""Metrics whose 1 means that all is right, likeliest first."""
_NAME = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[^/]*")


def _read_lm_eval_task(fields: Fields) -> Task:
    """The task of one row, where its `doc` is a known dataset's row or has tests."""
    task = _task(fields)
    if task is None:
        raise RecordError("doc has no tests: name a dataset")
    task.task_id = LM_EVAL.rollouts.task_id_of(fields)
    return task


def _responses(fields: Fields) -> Iterator[Fields]:
    """A row for each response, of a code task with what was graded. Raises `RecordError` if they are no texts."""
    texts = _only(fields.get("resps")) or _only([fields.get("resps")])
    if not texts:
        raise RecordError("resps has no generated text: tasks that are scored by likelihood have no completions")
    metrics = _metrics(fields)
    runs_code = any(name.startswith("pass") for name in metrics)
    graded = _only(fields.get("filtered_resps")) if runs_code else []
    shared = {} if _task(fields) else {"doc": fields.get("doc")}
    known = {"count": len(texts), "metrics": metrics, "metric": _metric(metrics)}
    for place, text in enumerate(texts):
        row = {**fields, **known, "completion": text, "kind": None}
        if len(graded) != len(texts):
            yield {**row, "more": {**shared, "filtered": fields.get("filtered_resps")}}
            continue
        own = {} if graded[place] == text else {"response": text}
        yield {**row, "completion": graded[place], "kind": Kind.FULL, "more": {**shared, **own}}


def _only(lists: JsonValue) -> list[str]:
    """The texts of the only request in a row; none if they are no texts."""
    texts = lists[0] if isinstance(lists, list) and len(lists) == 1 else None
    return texts if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else []


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


def _metrics(fields: Fields) -> dict[str, float]:
    names = fields.get("metrics")
    if not isinstance(names, list):
        names = [name for name in fields if name in _VERDICTS]
    found = ((name, field.number(fields.get(name))) for name in names if isinstance(name, str))
    return {name: value for name, value in found if value is not None}


def _metric(metrics: Mapping[str, float]) -> tuple[str | None, float | None]:
    """What says whether it passed, or the only metric."""
    name = next((name for name in _VERDICTS if name in metrics), None)
    name = next(iter(metrics)) if name is None and len(metrics) == 1 else name
    return name, metrics[name] if name else None


def _decides(row: Fields) -> bool:
    name, value = row["metric"]
    return name in _VERDICTS and (value in (0, 1) or row["count"] == 1)


def _lm_eval_grade(row: Fields) -> Recorded:
    name, value = row["metric"]
    by = f"lm-evaluation-harness ({row['filter']})" if isinstance(row.get("filter"), str) else ""
    return Recorded(verdict_of_truth(value == 1), f"{name}={value}", by) if _decides(row) else Recorded(None, None, by)


def _task(fields: Fields) -> Task | None:
    return trainer.task_in(fields.get("doc"), "lm-evaluation-harness", _lm_eval_prompt(fields))


def _task_id(fields: Fields) -> JsonValue:
    """The dataset's, which is in its row; else the number in the task."""
    own = taken(field.inner(fields, "doc"), "task_id|question_id|problem_id")
    task, number = field.optional_identifier(fields, "eval_task"), field.optional_identifier(fields, "doc_id")
    if own is None and number is not None and not task:
        return None if _lm_eval_prompt(fields) else f"doc-{number}"
    return f"{task}/{number}" if own is None and number is not None else own


_OF_LM_EVAL = (
    "doc_id", "doc", "arguments", "resps", "filtered_resps", "eval_task", "count", "metrics", "metric", "kind", "more",
)  # fmt: skip
LM_EVAL = Format(
    name="lm_eval",
    title="lm-evaluation-harness: samples, doc_id, doc, resps, filtered_resps",
    tasks=Tasks(
        claim=claims("2: doc_id, resps, filtered_resps, doc, (with tests)", lambda fields: _task(fields)),
        code=_read_lm_eval_task,
    ),
    rollouts=Rollouts(
        claim=claims("3: doc_id, doc, resps, filtered_resps"),
        each=_responses,
        prompt=_lm_eval_prompt,
        task_id=_task_id,
        kind=lambda row: row["kind"],
        reward=lambda row: row["metric"][1] if _decides(row) or row["count"] == 1 else None,
        parts=lambda row: row["metrics"] if len(row["metrics"]) > 1 else {},
        grade=_lm_eval_grade,
        by="lm-evaluation-harness",
        metadata=lambda row: row["more"],
        left_out=lambda row: {*row["metrics"], *_OF_LM_EVAL},
    ),
    from_name=_names_in_path,
)
