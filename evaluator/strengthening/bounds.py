"""What a task's prompt says about its inputs: ranges such as `1 <= n <= 10^5`, and words such as `positive`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from evaluator.strengthening.profile import NEAR, Arguments, walk

_MOST: Final = 20_000
_NUMBER: Final = r"(-?\d[\d,]*)(?:\s*(?:\^|\*\*)\s*(\d{1,3}))?"
_RANGE: Final = re.compile(
    rf"{_NUMBER}\s*(?:<=|<|≤|\\le|\\leq)\s*([A-Za-z_][\w\[\].]*)\s*(?:<=|<|≤|\\le|\\leq)\s*{_NUMBER}"
)
_IS: Final = r"\b([A-Za-z_]\w*)(?: numbers?| values?)? (?:is|are|will be) (?:always )?"
_LESS: Final = re.compile(rf"{_IS}(?:less|smaller) than {_NUMBER}")
_LOW: Final = re.compile(
    rf"\b([A-Za-z_]\w*)\s*(>=|>|≥)\s*{_NUMBER}(?![\w.])|(?<![\w.]){_NUMBER}\s*(<=|<|≤)\s*([A-Za-z_]\w*)\b(?!\s*(?:<=|<|≤)\s*-?\d)"
)
"""`n >= 1`, or the beginning of `0 <= x < k`."""
_CONDITION: Final = re.compile(r"\b(?:if|when|whether|unless|where|while|such that|return)\b", re.IGNORECASE)
"""In a line that may compare without saying what inputs are like."""
_EACH: Final = re.compile(r"\bfor ([A-Za-z_]\w*) in ([A-Za-z_]\w*)\b")
_BETWEEN: Final = re.compile(rf"{_IS}(?:between|from) {_NUMBER} (?:and|to) {_NUMBER}")
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    r"non-?\s?negative|\bnatural numbers?\b": ("negative item",),
    r"\bpositive\b": ("negative item", "zero", "zero item"),
    r"\b(?:n|k|i)\s?-?\s?th\b|\bfirst n\b|\b1 to n\b|\bn (?:numbers|terms|elements|digits)\b": ("large",),
    r"\bsorted\b|\bin (?:ascending|increasing|descending) order\b": ("unsorted", "undescending"),
    r"\bnon-?\s?empty\b|\bnot empty\b|\bat least one\b": ("empty", "empty text"),
    r"\bdistinct\b|\bunique\b|\bno duplicates\b|\bwithout duplicates\b": ("duplicates",),
    r"\blower-?\s?case\b": ("upper characters",),
    r"\bupper-?\s?case\b": ("lower characters",),
}


class Bounds(NamedTuple):
    """What a prompt says."""

    refused: frozenset[str]
    """Departures that it forbids (see `profile`)."""
    ranges: tuple[tuple[str, float, float], ...]
    """A name, and its least and greatest value."""

    def hold(self, arguments: Arguments, names: tuple[str, ...]) -> bool:
        """Whether arguments with these names are in their ranges; a list by its items."""
        for name, low, high in self.ranges:
            bare = re.split(r"[\[.]", name)[0]
            if bare in names:
                place = names.index(bare)
                if place < len(arguments) and not all(
                    low <= value <= high for value in _numbers_in(arguments[place], whole=bare == name)
                ):
                    return False
        return True


def bounds_in(prompt: str) -> Bounds:
    """Read from a prompt. Without one nothing says what is allowed, so nothing is that departs from the own inputs."""
    text = prompt[:_MOST]
    if not text.strip():
        return Bounds(NEAR, ())
    refused = {word for pattern, words in _WORDS.items() if re.search(pattern, text, re.IGNORECASE) for word in words}
    ranges: list[tuple[str, float, float]] = [
        (name, _value(low, power), _value(high, other)) for low, power, name, high, other in _RANGE.findall(text)
    ]
    ranges += [(name, _value(*given[:2]), _value(*given[2:])) for name, *given in _BETWEEN.findall(text)]
    ranges += [(name, -math.inf, _value(*given) - 1) for name, *given in _LESS.findall(text)]
    stated = "\n".join(line for line in text.split("\n") if not _CONDITION.search(line))
    for after, sign, one, power, other, more, mark, before in _LOW.findall(stated):
        least = _value(one or other, power or more) + ((sign or mark) in "<>")
        ranges.append((after or before, least, math.inf))
    lists = dict(_EACH.findall(text))
    ranges += [(f"{lists[name]}[i]", low, high) for name, low, high in ranges if name in lists]
    return Bounds(frozenset(refused), tuple(ranges))


def _value(number: str, power: str) -> int:
    base = int(number.replace(",", "")[:30])
    return base ** int(power) if power else base


def _numbers_in(value: Any, *, whole: bool) -> Iterator[float]:
    if type(value) in (int, float):
        yield value
    elif not whole:
        yield from (each for _, each in walk((value,)) if type(each) in (int, float))
