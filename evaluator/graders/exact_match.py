r"""The `exact_match` grader: the task accepts the completion's answer.

The task's `answer` is a text, a number, true or false, or a list of these, any of which is right. The reward is 1.0 or
0.0. The completion's answer is found by `extract` ("whole", "last_line", "boxed"), after `marker`, or as the last match
of `pattern`; never in a thinking section. `Config` says how it is compared. `7` and `7.0`
are compared as numbers (so `7,000.00 == 7e3`) with `numbers`, or if the accepted answer is a number in the row.
A completion without an answer is `no_code`, with the reward 0.0.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from evaluator.cases import SHOWN_WHEN_WRONG, Bench, not_run
from evaluator.checkers import shortened
from evaluator.extraction import outside_thinking
from evaluator.graders.answers import answer_grader, case_result, conclude
from evaluator.graders.grader import Grader, GraderError
from evaluator.model import Grade, JsonValue, Rollout, Task, TestCase
from evaluator.stages import stage
from evaluator.suites.reading import UngradableError

_QUOTED = 120
_NAMED = 5
_BOX = "\\boxed{"
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_LONGEST_NUMBER = 400
_NUMBER = re.compile(r"([+-]?)[$€£]?((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?)")
_MINUS = "\N{MINUS SIGN}\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{SMALL HYPHEN-MINUS}\N{FULLWIDTH HYPHEN-MINUS}-"
_OF_NUMBER = re.compile(
    r"(?P<point>(?<=\d)\.(?=\d)|(?<![^\W_])(?<!\.)\.(?=\d))"
    rf"|(?:(?<![^\W_])(?<![)\]}}{_MINUS}])|(?<=\d[eE])|(?<=\d\.[eE]))[{_MINUS}](?=[$€£]?\.?\d)"
)
"""The parts of a number that Unicode counts as punctuation: the point between or before digits, and the sign."""
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to find the answer; before that, which differences are ignored.

    In this order: Unicode forms, letters' case, punctuation, articles, white space.

    With `punctuation` "ignore" the point and the minus sign of a number still count: 3.14 is not 314, -5 is not 5 and
    1e-5 is not 1e5. A point belongs to a number between two digits, or before a digit if no letter, digit or point
    precedes it. A minus (a hyphen or an en dash, too) does if a number follows at once, with or without a currency
    sign, and no letter, digit, closing bracket or other minus precedes it; and in an exponent. Commas never count.
    """

    unicode: Literal["keep", "NFC", "NFKC"] = "NFC"
    case: Literal["keep", "ignore"] = "keep"
    punctuation: Literal["keep", "ignore"] = "keep"
    articles: Literal["keep", "ignore"] = "keep"
    whitespace: Literal["keep", "fold"] = "keep"
    strip: bool = True
    numbers: bool = False
    extract: Literal["whole", "last_line", "boxed"] = "whole"
    marker: str | None = None
    pattern: str | None = None


class Way(NamedTuple):
    """A way to find the answer in a text without thinking."""

    find: Callable[[str], str | None]
    where: str
    what: str
    """What it searches for, in words."""


class Accepted(NamedTuple):
    """One right answer. `number` is set if it is compared as a number, too."""

    text: str
    number: Decimal | None


def make(config: Config) -> Grader:
    """Raises `GraderError`."""
    if (config.marker is not None) + (config.pattern is not None) + (config.extract != "whole") > 1:
        raise GraderError("grader exact_match: give only one of extract, marker and pattern")
    if config.marker is not None and not config.marker.strip():
        raise GraderError("grader exact_match: marker is empty")
    way = _way(config)
    return answer_grader("exact_match", partial(_test_cases, config, way), partial(_complete, config, way))


def _complete(config: Config, way: Way, task: Task, rollout: Rollout, _: Bench, grade: Grade) -> None:
    accepted = list(_accepted(task.answer, config))
    [case] = _test_cases(config, way, task)
    with stage("extraction"):
        answer = way.find(outside_thinking(rollout.completion))
    if answer is None or not answer.strip():
        grade.cases = (not_run(case),)
        conclude(grade, f"no answer was found: the completion has no {way.what}")
    else:
        with stage("compare"):
            text, number = _normal(answer, config), _as_number(answer)
            right = any(text == each.text or (number is not None and number == each.number) for each in accepted)
        problem = None if right else f"expected {_named(accepted)}, got {_quoted(text)}"
        shown = answer.strip() if config.strip else answer
        grade.cases = (case_result(case, shown, problem, SHOWN_WHEN_WRONG),)
        conclude(grade)
    grade.reward = float(grade.passed)


def _test_cases(config: Config, way: Way, task: Task) -> tuple[TestCase, ...]:
    """One: `input` says how the answer is found, `expected` has one accepted answer per line."""
    list(_accepted(task.answer, config))
    answers = task.answer if isinstance(task.answer, list) else [task.answer]
    return (TestCase(0, f"exact match: {_described(config, way)}", "\n".join(map(_text, answers))),)


def _accepted(answer: JsonValue, config: Config) -> Iterator[Accepted]:
    """Raises `UngradableError` if there is none, or one that no text can equal."""
    if answer is None or answer == []:
        raise UngradableError("the task has no answer: give a text, a number, or a list of them")
    for each in answer if isinstance(answer, list) else [answer]:
        if not isinstance(each, str | int | float) or (isinstance(each, float) and not math.isfinite(each)):
            raise UngradableError(f"an answer is {type(each).__name__}: give texts and finite numbers")
        text = _text(each)
        if not _normal(text, config).strip():
            raise UngradableError(f"the answer {text!r} is empty, or the options ignore all of it")
        by_value = config.numbers or not isinstance(each, str | bool)
        yield Accepted(_normal(text, config), _as_number(text) if by_value else None)
        if isinstance(each, bool):  # as JSON writes it, and as Python does
            yield Accepted(_normal(str(each), config), None)


def _text(answer: str | float) -> str:
    if isinstance(answer, bool):
        return "true" if answer else "false"
    return answer if isinstance(answer, str) else repr(answer)


def _described(config: Config, way: Way) -> str:
    """How the answer is found, and the options that differ from the defaults."""
    values = {name: getattr(config, name) for name in Config.__struct_fields__ if name not in _FINDING}
    changed = [f"{name} {_text(value)}" for name, value in values.items() if value != getattr(_DEFAULTS, name)]
    return ", ".join([way.where, *changed])


def _named(accepted: list[Accepted]) -> str:
    if len(accepted) == 1:
        return _quoted(accepted[0].text)
    more = ", ..." if len(accepted) > _NAMED else ""
    return f"one of {', '.join(_quoted(each.text) for each in accepted[:_NAMED])}{more}"


def _quoted(text: str) -> str:
    return repr(shortened(text, _QUOTED, separator=" ", parts=2))


def _way(config: Config) -> Way:
    """Raises `GraderError`."""
    if config.marker is not None:
        return Way(partial(_after, config.marker), f"the line after {config.marker!r}", f"text after {config.marker!r}")
    if config.pattern is None:
        return _WAYS[config.extract]
    from evaluator.graders.answers.patterns import PatternError, has_group, last_match

    try:
        has_group(config.pattern)
    except PatternError as error:
        raise GraderError(f"grader exact_match: {error}") from None
    find = partial(last_match, config.pattern)
    return Way(find, f"the last match of {config.pattern!r}", f"match of {config.pattern!r}")


def _after(marker: str, text: str) -> str | None:
    """The rest of the line after the marker's last occurrence, else the next line that is not blank."""
    found = list(re.finditer(re.escape(marker), text, re.IGNORECASE))
    if not found:
        return None
    before, rest = text[: found[-1].start()], text[found[-1].end() :]
    emphasis = next((sign for sign in ("**", "__", "*", "_") if before.endswith(sign)), "")
    rest = rest.removeprefix(emphasis)  # as in `**Answer:** 42`
    return next((line for line in rest.splitlines() if line.strip()), None)


def _last_line(text: str) -> str | None:
    lines = text.rstrip().splitlines()
    return lines[-1] if lines else None


def _boxed(text: str) -> str | None:
    r"""The content of the last `\boxed{...}`, up to its closing brace."""
    at = text.rfind(_BOX)
    if at < 0:
        return None
    depth, start = 1, at + len(_BOX)
    for brace in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if not depth:
            return text[start : brace.start()]
    return None


_DEFAULTS = Config()
_FINDING = ("extract", "marker", "pattern")
_WAYS = {
    "whole": Way(lambda text: text, "the whole text", "text"),
    "last_line": Way(_last_line, "the last line", "text"),
    "boxed": Way(_boxed, "the last \\boxed{}", "complete \\boxed{...}"),
}


def _normal(text: str, config: Config) -> str:
    """The text in the form in which two texts are compared."""
    if config.unicode != "keep":
        text = unicodedata.normalize(config.unicode, text)
    if config.case == "ignore":
        text = text.casefold()
    if config.punctuation == "ignore":
        text = _without_punctuation(text)
    if config.articles == "ignore":
        text = " ".join(_ARTICLE.sub(" ", text).split())
    if config.whitespace == "fold":
        text = " ".join(text.split())
    return text.strip() if config.strip else text


def _without_punctuation(text: str) -> str:
    kept: list[str] = []
    start = 0
    for part in _OF_NUMBER.finditer(text):
        kept += [_unpunctuated(text[start : part.start()]), "." if part["point"] else "-"]
        start = part.end()
    return "".join([*kept, _unpunctuated(text[start:])])


def _unpunctuated(text: str) -> str:
    return "".join(char for char in text if not unicodedata.category(char).startswith("P"))


def _as_number(text: str) -> Decimal | None:
    """The number in a text, possibly with commas between thousands, a currency sign, a point at the end.

    None for anything else, `nan`, `inf`, fractions and per cents included.
    """
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None or not re.search("^[.,]?[0-9]", match.group(2)):
        return None
    sign, digits = match.groups()
    return Decimal(sign + digits.replace(",", ""))
