"""OpenCompass: the predictions of a run, `{"0": {origin_prompt, prediction, gold}}`, and its results with `details`.

`gold` or `reference` is the task's id where it is one, as for HumanEval; else the id is made from the prompt, or is the
number of the detail that has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, any_of, claims, taken, truth, verdict_of_truth
from evaluator.model import JsonValue, RecordError, Verdict

_ID = re.compile(r"[\w./:-]{1,80}")
_CORRECT = "is_correct|correct|passed|cascade_correct"
_TEXTS = "prediction|origin_prediction|origin|completion|solution|extracted_prediction|predictions|programs"
_WORDS = {
    "timeout": Verdict.TIME_LIMIT,
    "timed out": Verdict.TIME_LIMIT,
    "wrong_answer": Verdict.WRONG_ANSWER,
    "failed": Verdict.RUNTIME_ERROR,
}
"""How results call a failure."""


def _items(value: object) -> list[tuple[str, JsonValue]]:
    if isinstance(value, Mapping):
        return list(value.items())
    return [(str(number), each) for number, each in enumerate(value)] if isinstance(value, list) else []


def _first(value: object) -> Fields:
    found = next((each for key, each in _items(value) if key.isdecimal()), None)
    return found if isinstance(found, Mapping) else {}


def _samples(fields: Fields) -> Iterator[Fields]:
    """Each sample of each prompt. Raises `RecordError` at the end if some are none."""
    wrong: list[str] = []
    found = fields.get("details", fields)
    for key, each in _items(found):
        if not isinstance(each, Mapping):
            wrong.extend([key] if key.isdecimal() else [])  # beside them `type` says how they were made
            continue
        texts = taken(each, _TEXTS)
        for text in texts if isinstance(texts, list) else [texts]:
            if isinstance(text, str):
                yield {"key": key, **each, "text": text}
            else:
                wrong.append(key)
    if wrong:
        raise RecordError(f"sample {wrong[0]!r} has no prediction that is text, like {len(wrong)} in all")


def _named(sample: Fields) -> str | None:
    name = taken(sample, "task_id|gold|reference|references")
    if isinstance(name, str) and _ID.fullmatch(name) and any(map(str.isdigit, name)):
        return name
    return None if _prompt(sample) else field.text(sample, "key")


def _prompt(sample: Fields) -> str:
    """Its messages have `prompt` in place of `content`."""
    asked = taken(sample, "origin_prompt|prompt")
    if isinstance(asked, list):
        return "\n\n".join(field.text(each, "prompt") for each in asked if isinstance(each, Mapping))
    return chat.text_of(asked, "origin_prompt")


def _grade(sample: Fields) -> Recorded | None:
    passed, word = taken(sample, _CORRECT), sample.get("result")
    if not isinstance(passed, bool):
        return None
    if isinstance(word, str):
        return Recorded(Verdict.PASSED if passed else _WORDS.get(word, verdict_of_truth(False)), word)
    return truth(passed, "is_correct ")


def _is_results(fields: Fields) -> bool:
    first = _first(fields["details"])
    return taken(first, _CORRECT) is not None and taken(first, _TEXTS) is not None


FORMAT = Format(
    name="opencompass",
    title="OpenCompass: predictions with origin_prompt, prediction, gold; results with details",
    rollouts=Rollouts(
        claim=any_of(
            claims(
                "3: (origin_prompt and prediction by number)",
                lambda fields: {"origin_prompt", "prediction"} <= _first(fields).keys(),
            ),
            claims("3: details, (with is_correct or correct)", _is_results),
        ),
        each=_samples,
        completion="text",
        prompt=_prompt,
        task_id=_named,
        sample_id="",
        grade=_grade,
        by="OpenCompass",
        left_out="key, text, origin_prompt, prediction, gold, prompt, origin_prediction, origin, result, is_correct",
    ),
)
