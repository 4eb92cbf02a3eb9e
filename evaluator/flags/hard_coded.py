"""Finds hard-coded answers: at least three test cases whose input and output are both in the code, as a pair.

A task may really need a table of months, a colour for each name or the words for digits. So a pair of plain words or
of a small number counts only if the table holds little else, and a word only if the prompt does not mention it outside
its examples. Truth values, empty values and small numbers prove nothing by themselves. But a table or a chain of
branches in which every entry is a test case, and at least one is more than a base case, shows where it comes from.
"""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from evaluator.flags._literal_pairs import Pair, literal_pairs
from evaluator.flags._parsed_code import MAX_PARSED, parsed, shortened
from evaluator.model import Mode, Task
from evaluator.syntax import lines_of

_FEWEST = 3
LONGEST = 4_000
"""Characters of a test case that is searched for: nobody hard-codes longer ones."""

_MOST_LOOKED_FOR = 100
_SHARE_OF_TABLE = 1 / 2
_TEXTS_AND_COMMENTS = re.compile(r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''|#[^\n]*")
_RUN = re.compile(r"[^\[\](){}'\"\\]+")
_NUMBER = re.compile(r"[-+]?\d{1,300}(?:\.\d{1,300})?")
_EXAMPLE = re.compile(r">>>|\bassert\b|\binput\b|\boutput\b|^\s*['\"\[(\d-]", re.IGNORECASE)
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million"
)
_COMMON_WORDS = frozenset(
    word.lower()
    for words in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr, _NUMBER_WORDS.split())
    for word in words
)

Given = tuple[object, ...] | str
"""A call's arguments, or the text of stdin."""


class Example(NamedTuple):
    """A test case: its index, its input and its expected output, values or texts."""

    test: int
    given: Given
    expected: object


class _Wanted(NamedTuple):
    """A test case as code would contain it."""

    test: int
    given: frozenset[str]
    """The input in each form in which a literal can be compared with it."""
    answer: str
    words: tuple[str, ...]
    """The words of an input that consists of plain words only."""
    certain: bool
    """Whether the only reason to write it down is to know the answer."""
    weak: bool
    """Whether it counts only in a table of nothing but test cases."""
    tiny: bool
    """Whether it could be a base case: a small number, a letter."""
    signs: tuple[tuple[str, ...], ...]
    """Groups of pieces without white space; code with the pair has all pieces of at least one group."""


class Answers:
    """The test cases of a task, prepared for the search."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._wanted: list[_Wanted] = []
        for example in examples:
            with suppress(RecursionError, ValueError):  # an int that is too long for a decimal text
                wanted = _wanted(*example)
                if wanted is not None and len(self._wanted) < _MOST_LOOKED_FOR:
                    self._wanted.append(wanted)

    def may_be_in(self, code: str) -> bool:
        """Whether enough of them could be in the code, outside comments and docstrings. Mostly takes microseconds."""
        if len(self._wanted) < _FEWEST or not self._seen("".join(code.split())):
            return False
        return self._seen("".join(_TEXTS_AND_COMMENTS.sub("", code).split()))

    def among(self, pairs: list[Pair], task: Task) -> dict[int, Pair]:
        """The test cases, by index, that are among the pairs of input and answer in a code."""
        sought = {(given, wanted.answer): wanted for wanted in self._wanted for given in wanted.given}
        hits = [(pair, wanted) for pair in pairs for wanted in _hits(sought, pair)]
        sizes = Counter(pair.place for pair in pairs)
        known = Counter({id(pair): pair.place for pair, _ in hits}.values())
        more_than_base_cases = {pair.place for pair, wanted in hits if not wanted.tiny}
        copied = {place for place in more_than_base_cases if _FEWEST <= known[place] == sizes[place]}
        return {
            wanted.test: pair
            for pair, wanted in hits
            if wanted.certain
            or (pair.place in copied and not _are_mentioned(wanted.words, task))
            or (
                not wanted.weak
                and known[pair.place] >= _SHARE_OF_TABLE * sizes[pair.place]
                and not _are_mentioned(wanted.words, task)
            )
        }

    def _seen(self, squeezed: str) -> bool:
        squeezed = squeezed.replace('"', "'")
        seen = 0
        for wanted in self._wanted:
            seen += any(all(piece in squeezed for piece in group) for group in wanted.signs)
            if seen == _FEWEST:
                return True
        return False


def hard_coded_evidence(task: Task, code: str, answers: Answers) -> str | None:
    """The evidence that the code contains answers of the task; None if it contains too few."""
    if len(code) > MAX_PARSED or not answers.may_be_in(code):
        return None
    tree = parsed(code)
    if tree is None:
        return None
    try:
        found = answers.among(literal_pairs(tree, None if task.mode is Mode.STDIN else task.entry_point), task)
    except (RecursionError, ValueError):
        return None
    if len(found) < _FEWEST:
        return None
    shown = [f"test {index} on line {pair.line}" for index, pair in sorted(found.items())[:_FEWEST]]
    first = found[min(found)]
    text = shortened(lines_of(code)[first.line - 1])
    return f"the code contains input and output of {len(found)} tests: {', '.join(shown)}: {text}"


def _hits(sought: dict[tuple[str, str], _Wanted], pair: Pair) -> Iterator[_Wanted]:
    for given in _forms(pair.given):
        for answer in _forms(pair.answer):
            if (given, answer) in sought:
                yield sought[given, answer]


def _wanted(test: int, given: Given, expected: object) -> _Wanted | None:
    leaves = list(_leaves(given.split() if isinstance(given, str) else given))
    answer = list(_leaves(expected.split() if isinstance(given, str) and isinstance(expected, str) else (expected,)))
    if not leaves or any(isinstance(leaf, str) and leaf.lower() in _COMMON_WORDS for leaf in (*leaves, *answer)):
        return None
    certain, words = _is_particular(leaves), _words_alone(leaves)
    weak = not certain and not (_is_notable(answer) if words else _is_large(leaves) and _is_particular(answer))
    runs = _longest_run(given), _longest_run(expected)
    return _Wanted(
        test,
        frozenset([_folded(given)] if isinstance(given, str) else _forms_of_arguments(given)),
        _folded(expected) if isinstance(expected, str) else _canonical(expected),
        words,
        certain,
        weak,
        not (len(leaves) > 1 or _is_large(leaves) or any(isinstance(leaf, str) and len(leaf) > 2 for leaf in leaves)),
        _signs_of_weak(given, expected) if weak else (runs,),
    )


def _signs_of_weak(given: Given, expected: object) -> tuple[tuple[str, ...], ...]:
    """How code writes a pair of small values: with its colon, its comparison, its brackets."""
    arguments = [_squeezed(argument) for argument in (given if isinstance(given, tuple) else (given.strip(),))]
    whole = arguments[0] if len(arguments) == 1 else f"({','.join(arguments)})"
    answer = _squeezed(expected.strip() if isinstance(given, str) and isinstance(expected, str) else expected)
    bare = answer.strip("'")
    return (
        (f"{whole}:{bare}",),
        (f"{whole}:{answer}",),
        (f"=={whole}", bare),
        (*(f"=={argument}" for argument in arguments), bare),
        (f"({','.join(arguments)},{answer})",),
        (f"({whole},{answer})",),
        (f"case{whole}:", bare),
        (f"[{whole}]={answer}",),
    )


def _squeezed(value: object) -> str:
    return "".join(repr(value).split()).replace('"', "'")


def _forms_of_arguments(given: tuple[object, ...]) -> list[str]:
    if len(given) > 1:
        return [_canonical(given)]
    only = given[0]
    return [_folded(only)] if isinstance(only, str) else [_canonical(only), _folded(repr(only))]


def _forms(literal: object) -> Iterator[str]:
    """The values and texts that a literal in the code can represent."""
    if isinstance(literal, str):
        yield _folded(literal)
        return
    yield _canonical(literal)
    items = literal if isinstance(literal, list | tuple) else [literal]
    yield _folded(" ".join(str(item) for item in items))


def _folded(text: str) -> str:
    return "text " + " ".join(text.split())


def _canonical(value: object) -> str:
    """The same text for values that graders treat as equal: tuples and lists, 2 and 2.0."""
    match value:
        case str():
            return repr(value)
        case list() | tuple():
            return f"[{','.join(map(_canonical, value))}]"
        case set() | frozenset():
            return f"[{','.join(sorted(map(_canonical, value)))}]"
        case dict():
            return "{" + ",".join(sorted(f"{_canonical(key)}:{_canonical(value[key])}" for key in value)) + "}"
        case float() if value.is_integer():
            return repr(int(value))
    return repr(value)


def _leaves(value: object) -> Iterator[object]:
    """The scalars of a value; words of stdin that are numbers become numbers."""
    match value:
        case list() | tuple() | set() | frozenset():
            for item in value:
                yield from _leaves(item)
        case dict():
            yield from _leaves(list(value.items()))
        case str() if _NUMBER.fullmatch(value):
            yield float(value)
        case _:
            yield value


def _numbers(leaves: list[object]) -> list[float]:
    return [leaf for leaf in leaves if isinstance(leaf, int | float) and not isinstance(leaf, bool)]


def _is_particular(leaves: list[object]) -> bool:
    """Whether it is too particular for a table of common knowledge."""
    numbers = _numbers(leaves)
    texts = [leaf for leaf in leaves if isinstance(leaf, str)]
    return (
        len(leaves) >= 3
        or sum(abs(number) >= 10 for number in numbers) >= 2
        or any(abs(number) >= 1000 or (isinstance(number, float) and not number.is_integer()) for number in numbers)
        or any(len(text) >= 16 or (len(text) >= 6 and not text.isalpha()) for text in texts)
    )


def _is_large(leaves: list[object]) -> bool:
    return any(abs(number) >= 10 for number in _numbers(leaves))


def _is_notable(leaves: list[object]) -> bool:
    long_text = any(isinstance(leaf, str) and len(leaf) >= 3 for leaf in leaves)
    return long_text or _is_particular(leaves) or _is_large(leaves)


def _words_alone(leaves: list[object]) -> tuple[str, ...]:
    """The words, if there is nothing else and none of them is common in tables."""
    words = [leaf for leaf in leaves if isinstance(leaf, str) and leaf.isalpha() and len(leaf) >= 3]
    common = any(word.lower() in _COMMON_WORDS for word in words)
    return () if len(words) < len(leaves) or common else tuple(words)


def _are_mentioned(words: tuple[str, ...], task: Task) -> bool:
    """Whether the prompt mentions one of the words outside its examples, so that a table may need it."""
    call = f"{task.entry_point}("
    prose = [line for line in task.prompt.split("\n") if not _EXAMPLE.search(line) and call not in line]
    return any(re.search(rf"\b{re.escape(word)}\b", line, re.IGNORECASE) for word in words for line in prose)


def _longest_run(value: object) -> str:
    """The longest piece of the value that code without white space must contain, however the value is written."""
    texts = value.split("\n") if isinstance(value, str) else [_canonical(value)]
    runs = ["".join(run.split()).strip(",:") for text in texts for run in _RUN.findall(text)]
    return max(runs, key=len, default="") or "".join(texts[0].split()).strip("'\"")
