"""The layout of a program's input, inferred from samples: a new input has counts that fit its items.

An input is read as parts: lines with a fixed number of words, of which some are counts, rows with as many words as a
count says, texts of such a length, as many lines as a count says, and as many blocks of these. Counts are no
arguments: they are written by what there is to count.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluator.strengthening.profile import Arguments

_MOST_CHARACTERS: Final = 20_000
_MOST_PARTS: Final = 3
_MOST_WORDS: Final = 5
_WHOLE: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_REAL: Final = re.compile(r"-?\d{1,15}\.\d{1,15}")


class _MisfitError(ValueError):
    """An input that does not have the layout."""


@dataclass(frozen=True)
class Part:
    """`words`: of a line, or of each of its lines; or the place of the count that says so, as a negative number."""

    kind: str
    """`line`, `row`, `text` (one word), `lines` (of words), `texts`."""
    words: int = 0
    count: int = 0
    """Of several lines, or of a text's characters: the place of the count that says how many, from 1; 0 for none."""


@dataclass(frozen=True)
class Layout:
    """Parts in order, after the number of blocks if there are several."""

    parts: tuple[Part, ...]
    in_blocks: bool = False

    def arguments(self, text: str) -> Arguments:
        """The parts of an input, without its counts. Raises `ValueError` if it has another layout."""
        lines = [line.split() for line in text.rstrip("\n").split("\n")]
        if not self.in_blocks:
            found, place = self._block(lines, 0)
            blocks = found
        else:
            if not lines or len(lines[0]) != 1 or not _WHOLE.fullmatch(lines[0][0]):
                raise _MisfitError
            place, several = 1, []
            for _ in range(int(lines[0][0])):
                found, place = self._block(lines, place)
                several.append(found)
            blocks = (several,)
        if place != len(lines):
            raise _MisfitError
        return blocks

    def text(self, arguments: Arguments) -> str:
        """An input with these parts. Raises `ValueError` if they don't fit together."""
        if not self.in_blocks:
            return "\n".join(self._lines(arguments)) + "\n"
        (blocks,) = arguments
        if not blocks:
            raise _MisfitError
        lines = [str(len(blocks)), *(line for block in blocks for line in self._lines(block))]
        return "\n".join(lines) + "\n"

    def fits(self, text: str) -> bool:
        """Whether an input has this layout, and would be written just so."""
        try:
            return self.text(self.arguments(text)).split() == text.split()
        except (ValueError, IndexError, TypeError):
            return False

    @property
    def _counts(self) -> set[int]:
        """The places of words that are counts."""
        return {place for part in self.parts for place in (part.count, -part.words) if place > 0}

    def _block(self, lines: list[list[str]], place: int) -> tuple[tuple[Any, ...], int]:
        values: list[Any] = []
        seen: list[str] = []
        counts = self._counts
        for part in self.parts:
            several = part.kind in ("lines", "texts")
            number = _number(seen, part.count) if several else 1
            taken = lines[place : place + number]
            if len(taken) != number or number > len(lines):
                raise _MisfitError
            place += number
            if part.kind == "line":
                if len(taken[0]) != part.words:
                    raise _MisfitError
                for word in taken[0]:
                    seen.append(word)
                    if len(seen) not in counts:
                        values.append(_value(word))
                continue
            rows = [self._row(part, row, seen) for row in taken]
            values.append(rows if several else rows[0])
        return tuple(values), place

    def _row(self, part: Part, row: list[str], seen: list[str]) -> Any:
        if part.kind in ("text", "texts"):
            wanted = (
                _number(seen, part.count if part.kind == "text" else -part.words) if part.count or part.words else 0
            )
            if len(row) != 1 or (wanted and len(row[0]) != wanted) or _is_number(row[0]):
                raise _MisfitError
            return row[0]
        if len(row) != (part.words if part.words > 0 else _number(seen, -part.words)):
            raise _MisfitError
        values = list(map(_value, row))
        return values if part.kind == "row" or part.words < 0 else tuple(values)

    def _lines(self, block: Sequence[Any]) -> list[str]:
        """The lines of one block: its counts are known when all that they count has been seen."""
        counts: dict[int, int] = {}
        given, lines, holes = list(block), [], 0
        places = self._counts
        for part in self.parts:
            if part.kind == "line":
                words: list[Any] = []
                for _ in range(part.words):
                    holes += 1
                    words.append(("count", holes) if holes in places else _word(given.pop(0)))
                lines.append(words)
                continue
            value = given.pop(0)
            rows = value if part.kind in ("lines", "texts") else [value]
            if part.kind in ("lines", "texts"):
                _agree(counts, part.count, len(rows))
            for row in rows:
                if part.kind in ("text", "texts"):
                    _agree(counts, part.count if part.kind == "text" else -part.words, len(row))
                    lines.append([_word(row)])
                    continue
                if part.words < 0:
                    _agree(counts, -part.words, len(row))
                elif len(row) != part.words:
                    raise _MisfitError
                lines.append(list(map(_word, row)))
        if given:
            raise _MisfitError
        return [
            " ".join(word if isinstance(word, str) else str(_known(counts, word[1])) for word in line) for line in lines
        ]


def layout_of(texts: Sequence[str]) -> Layout | None:
    """The simplest layout that all of these inputs have; None if none is found."""
    if not texts or max(map(len, texts)) > _MOST_CHARACTERS or not all(text.strip() for text in texts):
        return None
    for parts in range(1, _MOST_PARTS + 1):
        for in_blocks in (True, False) if parts > 1 else (False, True):
            for layout in _layouts(parts, in_blocks=in_blocks):
                if all(map(layout.fits, texts)):
                    return layout
    return None


def _layouts(parts: int, *, in_blocks: bool) -> Iterator[Layout]:
    for lead in range(1, _MOST_WORDS + 1):
        head = Part("line", lead)
        options = [*_options(lead), *(Part("line", words) for words in range(1, _MOST_WORDS + 1))]
        for rest in itertools.product(options, repeat=parts - 1):
            layout = Layout((head, *rest), in_blocks)
            yield layout
    if parts == 1:
        yield Layout((Part("text"),), in_blocks)


def _options(words: int) -> Iterator[Part]:
    """The parts that words of the first line may count."""
    for count in range(1, words + 1):
        yield Part("row", -count)
        yield Part("text", count=count)
    for count in range(1, words + 1):
        for other in range(1, words + 1):
            yield Part("texts", -other, count)
        yield Part("texts", 0, count)
        for each in range(1, _MOST_WORDS + 1):
            yield Part("lines", each, count)
        for other in range(1, words + 1):
            if other != count:
                yield Part("lines", -other, count)
    yield Part("text")


def _is_number(word: str) -> bool:
    """Whether a word is a number rather than a text; `0110` is none, and `101` may be either."""
    return _WHOLE.fullmatch(word) is not None and not (len(word) > 1 and set(word) <= {"0", "1"})


def _number(seen: list[str], place: int) -> int:
    if not 0 < place <= len(seen) or not _WHOLE.fullmatch(seen[place - 1]):
        raise _MisfitError
    return int(seen[place - 1])


def _agree(counts: dict[int, int], place: int, number: int) -> None:
    if place > 0 and (counts.setdefault(place, number) != number or not number):
        raise _MisfitError


def _known(counts: dict[int, int], place: int) -> int:
    if place not in counts:
        raise _MisfitError
    return counts[place]


def _value(word: str) -> Any:
    if _WHOLE.fullmatch(word) and word != "-0":
        return int(word)
    return float(word) if _REAL.fullmatch(word) and repr(float(word)) == word else word


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    if not text or text.split() != [text] or type(value) not in (int, float, str):
        raise _MisfitError
    return text
