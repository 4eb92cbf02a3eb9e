"""How a format is declared: what claims a row, and where each field of a task or a rollout is taken from.

A field is taken from a path (`id`, `doc.task_id`), from the first of several that the row has (`task_id|id`), or by a
function. What is taken is no metadata, and neither is `left_out`; all else in the row is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.code import mode_of_test, required_name
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.mapping import ABSENT, at
from evaluator.formats.reading.problems import read_each
from evaluator.model import JsonValue, Kind, Mode, RecordError, Rollout, Task, Verdict, brief
from evaluator.tasks.rows import task_fields

Take = str | Callable[[Fields], Any]
Said = tuple[list[chat.Message], list[chat.Message]]
"""A prompt and what came after it."""


class Claim(NamedTuple):
    """A format's claim that a row is its own.

    `strength` is 3 if the row's fields occur in no other format, 2 if they are typical of this one, and 1 if they are
    just enough. It is 4 for rows that say that they are ours, whatever else is in them. `why` names the fields.
    """

    strength: int
    why: str


Claims = Callable[[Fields], Claim | None]
_KINDS: Mapping[str, type | tuple[type, ...]] = {"list": list, "object": Mapping, "text": str, "some": object}


def claims(text: str, fits: Callable[[Fields], object] | None = None) -> Claims:
    """The claim that a text makes, such as `3: task_id, prompt|question, !mode; 2: task_id, tests:list`.

    The first that fits counts. Each is a strength, and what a row must have: a field, or `!` and one that it must not
    have; one of several with `|`, all that there are of several with `+`; `:list`, `:object`, `:text` or `:some` (not
    null) says what it holds, and `=` how its text begins. A part in brackets is a remark. `fits` is asked last.
    """
    return _Declared(text, fits)


class _Declared:
    """The claim that a text makes."""

    def __init__(self, text: str, fits: Callable[[Fields], object] | None) -> None:
        self._fits = fits
        self._parsed = list(_parsed(text))

    def may_fit(self, names: frozenset[str]) -> bool:
        """Whether a row with these fields may have what is claimed."""
        return any(needed <= names for _, needed, _ in self._parsed)

    def __call__(self, fields: Fields) -> Claim | None:
        for strength, needed, terms in self._parsed:
            if needed <= fields.keys():
                shown = [term(fields) for term in terms]
                if None not in shown and (self._fits is None or self._fits(fields)):
                    return Claim(strength, ", ".join(filter(None, shown)).replace(", (", " ").strip("()"))
        return None


def _parsed(text: str) -> Iterator[tuple[int, frozenset[str], list[Callable[[Fields], str | None]]]]:
    """Strength, names that most rows of other formats lack, and all terms, of each alternative."""
    for part in text.split(";"):
        strength, _, words = part.strip().partition(": ")
        terms = words.split(", ")
        yield int(strength), frozenset(filter(str.isidentifier, terms)), [_term(term) for term in terms]


@dataclass(frozen=True)
class Narrowed:
    """A claim to some of the rows that `whole` claims."""

    whole: Claims | None
    claim: Claims

    def may_fit(self, names: frozenset[str]) -> bool:
        return may_fit(self.whole, names)

    def __call__(self, fields: Fields) -> Claim | None:
        return self.claim(fields) if self.whole is not None and self.whole(fields) is not None else None


@dataclass(frozen=True)
class _AnyOf:
    several: tuple[Claims, ...]

    def may_fit(self, names: frozenset[str]) -> bool:
        return any(may_fit(claim, names) for claim in self.several)

    def __call__(self, fields: Fields) -> Claim | None:
        return next(filter(None, (claim(fields) for claim in self.several)), None)


def any_of(*several: Claims) -> Claims:
    """The first of several claims that fits."""
    return _AnyOf(several)


def may_fit(claim: Claims | None, names: frozenset[str]) -> bool:
    """Whether a row with these fields may be claimed; for a claim by code it may."""
    return claim is not None and bool(getattr(claim, "may_fit", lambda _: True)(names))


def _term(text: str) -> Callable[[Fields], str | None]:
    """What of a term a row has; None if it does not fit."""
    if text.startswith("("):
        return lambda _: text
    if text.startswith("!"):
        absent = _one(text[1:])
        return lambda fields: "" if absent(fields) is None else None
    if "+" in text:
        names = text.split("+")
        return lambda fields: ", ".join(name for name in names if name in fields) or None
    options = [_one(option) for option in text.split("|")]
    if len(options) == 1:
        return options[0]
    return lambda fields: next((shown for option in options if (shown := option(fields)) is not None), None)


def _one(text: str) -> Callable[[Fields], str | None]:
    name, is_start, start = text.partition("=")
    name, _, kind = name.partition(":")

    def shown(fields: Fields) -> str | None:
        if name not in fields or (kind and (fields[name] is None or not isinstance(fields[name], _KINDS[kind]))):
            return None
        if not is_start:
            return name
        return f"{name} {fields[name]!r}" if str(fields[name]).startswith(start) else None

    return shown


class Recorded(NamedTuple):
    """A source's grade: in our words and in its own. `by`: who gave it, where the format does not say."""

    verdict: Verdict | None
    word: str | None
    by: str = ""


def truth(passed: bool | None, word: str = "", by: str = "") -> Recorded | None:
    """A grade that only says whether it passed, in words such as `is_solved true`; None if it does not say."""
    return None if passed is None else Recorded(verdict_of_truth(passed), f"{word}{str(passed).lower()}", by)


def verdict_of_truth(passed: bool) -> Verdict:
    """For a source that only says whether it passed."""
    return Verdict.PASSED if passed else Verdict.WRONG_ANSWER


def verdict_of_error(text: str) -> Verdict:
    """Of a traceback, or the last line of one: an assert that failed is a wrong answer, the rest is an error."""
    last = text.rstrip()
    last = last[last.rfind("\n") + 1 :]
    return Verdict.WRONG_ANSWER if last.startswith("AssertionError") else Verdict.RUNTIME_ERROR


def taken(fields: Fields, take: Take) -> JsonValue:
    """What the row has there; None if it has nothing, or an empty text."""
    if not isinstance(take, str):
        return take(fields)
    value = fields.get(take)
    if value is not None and value != "":
        return value
    if take.isidentifier():
        return None
    for path in _paths(take):
        value = fields.get(path)
        if value is None and "." in path:
            value = at(fields, path)
        if value is not None and value != "" and value is not ABSENT:
            return value
    return None


@lru_cache(maxsize=1024)
def _paths(take: str) -> tuple[str, ...]:
    return tuple(filter(None, take.split("|")))


_OF_TASK = (
    "task_id", "prompt", "suffix", "entry_point", "test", "in_outs", "answer", "reference", "checker_code", "grader",
    "time_limit", "memory_limit",
)  # fmt: skip
_PLACES = ("sample_id", "sample_index", "model", "group", "step")
_OF_ROLLOUT = ("completion", "prompt", "task_id", *_PLACES, "reward", "passed", "each")


class Tasks(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of tasks, by the fields of the native format; `code` reads those that can't be declared."""

    claim: Claims | None = None
    code: Callable[[Fields], Task] | None = None
    task_id: Take = "task_id"
    """Where a function finds none, or after a last `|`, it is made from the prompt."""
    prompt: Take = "prompt"
    suffix: Take = ""
    entry_point: Take = ""
    test: Take = ""
    """Test code; `in_outs` and `answer` decide tasks without it. A format with none of them has tasks without tests."""
    in_outs: Take = ""
    answer: Take = ""
    preamble: str | Callable[[Fields], str] = ""
    """What the dataset's graders put before every completion, or what finds it; a row's own `preamble` wins."""
    reference: Take = ""
    checker_code: Take = ""
    grader: Take = ""
    time_limit: Take = ""
    memory_limit: Take = ""
    """Both as `evaluator.tasks.stated_limits` reads them."""
    same: str = ""
    """Fields that are those of a native row, such as `limits`."""
    source: str | Callable[[Fields], str] = ""
    """The dataset's name, or what says it."""
    left_out: str = ""
    metadata: Callable[[Fields], Mapping[str, JsonValue]] | None = None
    """What is not in a field of the row."""
    names: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        _note_names(self, _OF_TASK)

    def read(self, fields: Fields) -> Task:
        """The task of a row. Raises `RecordError` with the field that is wrong."""
        if self.code is not None:
            return self.code(fields)
        row = {name: value for name in _OF_TASK if (value := taken(fields, getattr(self, name))) not in (None, "")}
        row["prompt"] = chat.text_of(row.get("prompt"), _name(self.prompt))
        row["task_id"] = _id_of(row.get("task_id"), self, row["prompt"])
        for name, given in (("source", self.source), ("preamble", self.preamble)):
            row[name] = given if isinstance(given, str) else given(fields)
        row |= {name: fields[name] for name in ("preamble", *self.same.split(", ")) if fields.get(name) is not None}
        if "in_outs" in row:
            row.pop("entry_point", None)
            row["in_outs"] = field.optional_object(row, "in_outs", field.IN_OUTS) or {}
            row["mode"] = Mode.CALL if row["in_outs"].get("fn_name") else Mode.STDIN
        elif "answer" in row:
            row["mode"] = Mode.ANSWER
        elif self.test:
            row["mode"] = mode_of_test(field.text(row, "test"))
            row["entry_point"] = required_name(row.get("entry_point"), _name(self.entry_point) or "entry_point")
        task = Task(**task_fields(row))
        more = self.metadata(fields) if self.metadata else {}
        task.metadata = {**field.without(fields, self.names), **more}
        return task


class Rollouts(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of rollouts, or with several each; `code` reads those that can't be declared."""

    claim: Claims | None = None
    code: Callable[[Fields], Iterable[Rollout]] | None = None
    each: str | Callable[[Fields], Iterable[Fields | RecordError]] = ""
    """Where a row may have a list of samples (objects or texts; their fields win), or what makes rows of a row.

    It may yield what is wrong with a sample in its place."""
    completion: Take = "completion"
    """Text, or messages whose last one counts."""
    said: Callable[[Fields], Said] | None = None
    """The conversation, instead of `completion`: the prompt, and what came after it. `prompt` may then be empty."""
    all_turns: bool = False
    """Whether a conversation is kept even if it is a prompt and one plain answer."""
    prompt: Take = "prompt"
    task_id: Take = "task_id"
    """Where a function finds none, or after a last `|`, it is made from the prompt."""
    sample_id: Take = "sample_id"
    sample_index: Take = "sample_index"
    kind: Kind | Callable[[Fields], Kind | None] | None = None
    model: Take = "model"
    group: Take = "group"
    step: Take = "step"
    reward: Take = ""
    parts: Callable[[Fields], Mapping[str, float]] | None = None
    """The parts of the reward by name."""
    passed: Take = ""
    """Whether it passed there; without it as `grade` says."""
    grade: Callable[[Fields], Recorded | None] | None = None
    by: str = ""
    left_out: str | Callable[[Fields], Iterable[str]] = ""
    metadata: Callable[[Fields], Mapping[str, JsonValue]] | None = None
    """What is not in a field of the row."""
    names: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        _note_names(self, _OF_ROLLOUT)

    @property
    def is_one_each(self) -> bool:
        """Whether a row is one rollout, so that its fields say which task it is of."""
        return self.code is None and not self.each

    def read(self, fields: Fields) -> Iterable[Rollout]:
        """The rollouts of a row. Raises `RecordError` at the end with each sample that is wrong; the others count."""
        if self.code is not None:
            return self.code(fields)
        if isinstance(self.each, str):
            samples = at(fields, path) if (path := self.each) else ABSENT
            if samples is ABSENT:
                return self._rollouts(fields)
            rows = _samples(fields, path, samples, _name(self.completion))
            return read_each(rows, self._rollouts, lambda place, _: f"{path}[{place}]")
        return read_each(self.each(fields), self._rollouts, lambda place, _: f"sample {place}", is_list=False)

    def _rollouts(self, sample: Fields) -> tuple[Rollout]:
        return (self._rollout(sample),)

    def prompt_of(self, fields: Fields, said: Said | None = None) -> str:
        """The prompt of a row as one text; empty if the row does not have it. `said`: its conversation, if known."""
        if self.said is not None and not self.prompt:
            return chat.prompt_text((said or self.said(fields))[0])
        return chat.text_of(taken(fields, self.prompt), _name(self.prompt))

    def task_id_of(self, fields: Fields, said: Said | None = None) -> str:
        """The id of a row's task. Raises `RecordError` if it can't be known."""
        own = taken(fields, self.task_id)
        return _id_of(own, self, "" if own is not None else self.prompt_of(fields, said))

    def _rollout(self, fields: Fields) -> Rollout:
        said = self.said(fields) if self.said else None
        text, more = self._completion(fields, said)
        recorded = self.grade(fields) if self.grade else None
        verdict, word, by = recorded or (None, None, "")
        reward = field.number(field.number_in(taken(fields, self.reward)))
        parts = self.parts(fields) if self.parts else {}
        passed = verdict is Verdict.PASSED if verdict is not None and verdict.graded else None
        if self.passed:
            passed = field.optional_truth({"passed": taken(fields, self.passed)}, "passed")
        left_out = self.left_out(fields) if callable(self.left_out) else ()
        metadata = field.kept(fields, {*self.names, *parts, *left_out})
        if parts:
            metadata["reward_components"] = parts
        row = {name: taken(fields, getattr(self, name)) for name in _PLACES}
        return Rollout(
            task_id=self.task_id_of(fields, said),
            completion=text,
            sample_id=field.optional_identifier(row, "sample_id") or "",
            sample_index=field.optional_whole(row, "sample_index"),
            kind=self.kind(fields) if callable(self.kind) else self.kind,
            model=field.optional_identifier(row, "model"),
            group=field.optional_identifier(row, "group"),
            step=field.optional_whole(row, "step"),
            expected_pass=passed,
            given_reward=reward,
            recorded_verdict=verdict,
            recorded_word=word,
            recorded_by=None if (reward, verdict, word) == (None, None, None) else by or self.by,
            metadata={**metadata, **more, **(self.metadata(fields) if self.metadata else {})},
        )

    def _completion(self, fields: Fields, said: Said | None) -> tuple[str, dict[str, JsonValue]]:
        if said is not None:
            prompt, answer = said
            turns = {"messages": [*prompt, *answer]} if self.all_turns else chat.turns(prompt, answer)
            return chat.answer_text(answer), turns
        if not isinstance(self.completion, str):
            return self.completion(fields), {}
        values = ((path, at(fields, path)) for path in _paths(self.completion))
        path, value = next(((path, value) for path, value in values if value not in (ABSENT, None)), ("", None))
        if not path:
            raise RecordError(f"{_name(self.completion)} is missing: add the text that the model wrote")
        return field.completion({**fields, path: value}, path)


def _note_names(spec: Tasks | Rollouts, fields: Iterable[str]) -> None:
    """The fields of a row that are no metadata: those taken as they are, and those left out."""
    takes = [getattr(spec, name) for name in fields]
    paths = [path for take in takes if isinstance(take, str) for path in take.split("|")]
    more = ("preamble", *spec.same.split(", ")) if isinstance(spec, Tasks) else ()
    out = spec.left_out.split(", ") if isinstance(spec.left_out, str) else ()
    msgspec.structs.force_setattr(spec, "names", frozenset([*(path for path in paths if "." not in path), *out, *more]))


def _samples(fields: Fields, path: str, samples: JsonValue, completion: str) -> Iterator[Fields | RecordError]:
    """A row for each sample of the list at a path in the row, numbered. Raises `RecordError` where it is no list.

    `completion`: the field that a sample without fields is.
    """
    if not isinstance(samples, list):
        raise RecordError(f"{path} must be a list of samples, not {brief(samples)}")
    outer = field.without(fields, {path})
    for place, sample in enumerate(samples):
        own = {completion or "completion": sample} if isinstance(sample, str) else sample
        if isinstance(own, Mapping):
            yield {"sample_index": place, **outer, **own}
        else:
            yield RecordError(f"{path}[{place}] must be an object or a text, not {brief(sample)}")


def _id_of(own: JsonValue, spec: Tasks | Rollouts, prompt: str) -> str:
    """A task's own id; else one made from its prompt, where the format has such. Raises `RecordError`."""
    if isinstance(spec.task_id, str) and spec.task_id and not spec.task_id.endswith("|"):
        return field.identifier({_name(spec.task_id): own}, _name(spec.task_id))
    if own is not None:
        return field.identifier({"task_id": own}, "task_id")
    if not prompt:
        shown = _name(spec.prompt) or "its prompt"
        raise RecordError(f"the row has neither an id nor text in {shown}: add a task_id")
    return field.id_from_prompt(prompt)


def _name(take: Take) -> str:
    """The field that a message names."""
    return take.partition("|")[0] if isinstance(take, str) else ""


NO_TASKS, NO_ROLLOUTS = Tasks(code=lambda _: Task(task_id="", mode=Mode.ANSWER)), Rollouts(code=lambda _: ())
"""Of a format that has no such rows."""
