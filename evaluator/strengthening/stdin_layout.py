"""The layout of a program's input, inferred from samples: a new input has counts that fit its items.

An input is read as parts: a line with a fixed number of words, some of which may be counts, then rows with as many
words as a count says, texts of such a length, as many lines as a count says, and as many blocks of all these. Counts
are no arguments: they are written by what there is to count.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from evaluator.strengthening.profile import Arguments

_MOST_CHARACTERS: Final = 20_000
_MOST_PARTS: Final = 3
_MOST_WORDS: Final = 5
_WHOLE: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_REAL: Final = re.compile(r"-?\d{1,15}\.\d{1,15}")
_FIELDS, _ROW, _TEXT = "fields", "row", "text"


class MisfitError(ValueError):
    """An input that does not have the layout."""


class Part(NamedTuple):
    """One line, or several. A count is named by its place among the words of all lines of fields, from 1."""

    kind: str
    """`fields`: each word is an argument or a count; `row`: all words are one argument; `text`: one word."""
    width: int = 0
    """How many words, or characters of a text; negative: the count that says so; 0: any."""
    many: int = 0
    """The count of such lines, which are one argument; 0 for a single line."""


class Layout(NamedTuple):
    """Parts in order, after the number of blocks if there are several."""

    parts: tuple[Part, ...]
    in_blocks: bool = False

    def arguments(self, text: str) -> Arguments:
        """The parts of an input, without its counts. Raises `MisfitError` if it has another layout."""
        lines = [line.split() for line in text.rstrip("\n").split("\n")]
        if not self.in_blocks:
            values, end = self._read(lines, 0)
        else:
            blocks: list[Arguments] = []
            end = 1
            for _ in range(_count(lines[0], 1) if len(lines[0]) == 1 else 0):
                block, end = self._read(lines, end)
                blocks.append(block)
            values = (blocks,)
        if end != len(lines):
            raise MisfitError
        return values

    def text(self, arguments: Arguments) -> str:
        """An input with these parts. Raises `MisfitError` if they don't fit together."""
        blocks = arguments[0] if self.in_blocks else [arguments]
        if not blocks:
            raise MisfitError
        lines = [str(len(blocks))] if self.in_blocks else []
        return "\n".join([*lines, *(line for block in blocks for line in self._written(block))]) + "\n"

    def fits(self, text: str) -> bool:
        """Whether an input has this layout, and would be written just so."""
        try:
            return self.text(self.arguments(text)).split() == text.split()
        except (ValueError, IndexError, TypeError):
            return False

    @property
    def _counts(self) -> set[int]:
        return {place for part in self.parts for place in (part.many, -part.width) if place > 0}

    def _read(self, lines: list[list[str]], place: int) -> tuple[Arguments, int]:
        values: list[Any] = []
        words: list[str] = []
        for part in self.parts:
            number = _count(words, part.many) if part.many else 1
            rows = lines[place : place + number]
            width = _count(words, -part.width) if part.width < 0 else part.width
            if len(rows) != number or not all(_has_width(part, row, width) for row in rows):
                raise MisfitError
            place += number
            if part.kind == _FIELDS:
                first = len(words) + 1
                words += rows[0]
                values += [_value(word) for at, word in enumerate(rows[0], first) if at not in self._counts]
            else:
                found = [_of_row(part, row) for row in rows]
                values.append(found if part.many else found[0])
        return tuple(values), place

    def _written(self, block: Sequence[Any]) -> list[str]:
        """The lines of one block. Its counts are known when all that they count has been seen."""
        counts: dict[int, str] = {}
        lines: list[list[str | int]] = []
        given, words = iter(block), itertools.count(1)
        for part in self.parts:
            if part.kind == _FIELDS:
                places = list(itertools.islice(words, part.width))
                lines.append([place if place in self._counts else _word(next(given, None)) for place in places])
                continue
            value: Any = next(given, None)
            rows = value if part.many else [value]
            _agree(counts, part.many, len(rows))
            for row in rows:
                _agree(counts, -part.width, len(row))
                if part.kind == _ROW and part.width > 0 and len(row) != part.width:
                    raise MisfitError
                lines.append([_word(row)] if part.kind == _TEXT else list(map(_word, row)))
        if next(given, None) is not None:
            raise MisfitError
        return [" ".join(counts.get(word, "?") if isinstance(word, int) else word for word in line) for line in lines]


def layout_of(texts: Sequence[str]) -> Layout | None:
    """The simplest layout that all of these inputs have; None if none is found."""
    if not texts or max(map(len, texts)) > _MOST_CHARACTERS or not all(text.strip() for text in texts):
        return None
    return next((layout for layout in _layouts() if all(map(layout.fits, texts))), None)


def _layouts() -> Iterator[Layout]:
    """Simple ones first. All counts are in the first line, or the first of each block."""
    for parts in range(1, _MOST_PARTS + 1):
        for in_blocks in (parts > 1, parts == 1):
            for words in range(1, _MOST_WORDS + 1):
                fields = [Part(_FIELDS, each) for each in range(1, _MOST_WORDS + 1)]
                for rest in itertools.product([*_options(words), *fields], repeat=parts - 1):
                    yield Layout((Part(_FIELDS, words), *rest), in_blocks)
        if parts == 1:
            yield from (Layout((Part(_TEXT),), in_blocks) for in_blocks in (False, True))


def _options(words: int) -> Iterator[Part]:
    """The parts that words of the first line may count."""
    counts = range(1, words + 1)
    for count in counts:
        yield from (Part(_ROW, -count), Part(_TEXT, -count))
    for count in counts:
        yield from (Part(_TEXT, -other, count) for other in counts)
        yield Part(_TEXT, 0, count)
        yield from (Part(_ROW, each, count) for each in range(1, _MOST_WORDS + 1))
        yield from (Part(_ROW, -other, count) for other in counts if other != count)
    yield Part(_TEXT)


def _has_width(part: Part, row: list[str], width: int) -> bool:
    if part.kind != _TEXT:
        return len(row) == width
    return len(row) == 1 and width in (0, len(row[0])) and not _is_number(row[0])


def _of_row(part: Part, row: list[str]) -> Any:
    if part.kind == _TEXT:
        return row[0]
    values = list(map(_value, row))
    return values if part.width < 0 else tuple(values)


def _is_number(word: str) -> bool:
    """Whether a word is a number rather than a text; `0110` is none, and `101` may be either."""
    return _WHOLE.fullmatch(word) is not None and not (len(word) > 1 and set(word) <= {"0", "1"})


def _count(words: Sequence[str], place: int) -> int:
    if not 0 < place <= len(words) or not _WHOLE.fullmatch(words[place - 1]) or not 0 < int(words[place - 1]) < 10**5:
        raise MisfitError
    return int(words[place - 1])


def _agree(counts: dict[int, str], place: int, number: int) -> None:
    if place > 0 and (counts.setdefault(place, str(number)) != str(number) or not number):
        raise MisfitError


def _value(word: str) -> Any:
    if _WHOLE.fullmatch(word) and word != "-0":
        return int(word)
    return float(word) if _REAL.fullmatch(word) and repr(float(word)) == word else word


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    if type(value) not in (int, float, str) or text.split() != [text]:
        raise MisfitError
    return text
