"""The table of values in docs/concepts/sandbox.md: each row holds for examples that a completion returns."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from evaluator.model import Opaque
from evaluator.sandbox.guest import encode
from evaluator.sandbox.host.values import decoded

DOCS = Path(__file__).resolve().parents[2] / "docs/concepts/sandbox.md"
CAP = 1 << 19
SOURCE = """
import array, collections, contextlib, dataclasses, datetime, enum, fractions, math, types, zoneinfo
from collections import *
from decimal import Decimal
from datetime import date, datetime as moment, time, timedelta, timezone, tzinfo
from fractions import Fraction
import numpy

class Red(enum.IntEnum):
    RED = 3
class Word(enum.StrEnum):
    A = "a"
class Color(enum.Enum):
    RED = 3
Point = namedtuple("Point", "x y")
@dataclasses.dataclass(frozen=True)
class Data:
    x: int = 1
class Sub(list):
    __hash__ = lambda self: 1
class Half(Fraction):
    pass
class Apart(str):
    __eq__ = lambda self, other: self is other
    __hash__ = lambda self: 1
class Zone(tzinfo):
    utcoffset = lambda self, when: timedelta(hours=1)
def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value
def cycle():
    value = []
    value.append(value)
    return value
def shared():
    value = []
    for _ in range(60):
        value = [value, value]
    return value
def moved():
    value = OrderedDict(a=1, b=2)
    value.move_to_end("a")
    return value
def f(expression):
    return eval(expression)
"""

ITSELF = {
    "None, bool, int (any size), float": [
        "None", "True", "0", "-(1 << 9_000)", "1.5", "-0.0", "math.inf", "math.nan", "2j",
    ],
    "str (also with lone": ["'é'", r"'\ud800'", "b'\\0x'", "bytearray(b'x')", "''"],
    "list, tuple, dict": [
        "[1, (2, []), {}]", "{1: [2], (1, 2): None}", "{1, 2}", "frozenset({(1,)})", "range(1, 9, 2)", "Counter('aab')",
        "moved()",
    ],
    "deque, defaultdict": ["deque([1, 2])", "defaultdict(None, {1: 2})"],
    "Decimal": [
        "Decimal('1.50')", "Decimal('-Infinity')", "Decimal('NaN')", "Fraction(1, 3)",
        "date(2020, 1, 2)", "timedelta(1, 2, 3)",
    ],
    "time and datetime, without": [
        "time(1, 2, 3, 4)", "moment(2020, 1, 2, 3)", "moment(2020, 1, 2, tzinfo=timezone(timedelta(hours=5)))",
        "time(1, tzinfo=timezone.utc)",
    ],
}  # fmt: skip
"""The expressions that the completion evaluates, by the start of the row."""

CHANGED = {
    "deque, defaultdict": {"deque([1], 5)": "deque([1])", "defaultdict(list, {1: []})": "defaultdict(None, {1: []})"},
    "namedtuple, IntEnum": {
        "Red.RED": "3", "Word.A": "'a'", "Point(1, [2])": "(1, [2])", "Sub([1])": "[1]", "Half(1, 2)": "Fraction(1, 2)",
        "{Red.RED: Word.A}": "{3: 'a'}",
    },
    "numpy scalars": {
        "numpy.int8(-3)": "-3", "numpy.float32(0.1)": "0.10000000149011612", "numpy.bool_(True)": "True",
        "numpy.str_('a')": "'a'", "numpy.complex64(1j)": "1j", "numpy.bytes_(b'x')": "b'x'",
        "numpy.datetime64('NaT')": "None", "numpy.datetime64('2020-01-02')": "date(2020, 1, 2)",
        "numpy.datetime64('2020-01-02T03')": "moment(2020, 1, 2, 3)",
        "numpy.timedelta64(5, 's')": "timedelta(seconds=5)",
        "numpy.datetime64(7, 'ns')": "7", "numpy.longdouble(1.5)": "1.5", "{numpy.int64(1): numpy.int64(2)}": "{1: 2}",
    },
    "numpy arrays": {
        "numpy.arange(4).reshape(2, 2)": "[[0, 1], [2, 3]]", "numpy.array(7)": "7", "numpy.zeros((2, 0))": "[[], []]",
        "numpy.array([1, 'a', None, [2]], dtype=object)": "[1, 'a', None, [2]]",
        "numpy.array([(1, 0.5)], dtype=[('a', int), ('b', float)])": "[(1, 0.5)]",
        "numpy.ma.array([1, 2], mask=[False, True])": "[1, None]", "numpy.matrix([[1]])": "[[1]]",
        "numpy.array(['2020-01-02'], dtype='datetime64[D]')": "[date(2020, 1, 2)]",
    },
}  # fmt: skip
"""The expressions that the completion evaluates, and the resulting values."""

NO_DATA = {
    "generators": [
        "(x for x in 'a')", "iter([1])", "map(str, [1])", "zip('a', 'b')", "reversed([1])", "{}.keys()", "{}.values()",
        "{}.items()", "numpy.arange(2).flat",
    ],
    "functions": [
        "len", "f", "int", "list[int]", "math", "ValueError(1)", "Data()", "Color.RED", "slice(1, 2)",
        "memoryview(b'a')",
        "array.array('i', [1])", "UserDict(a=1)", "ChainMap()", "types.MappingProxyType({})", "...", "NotImplemented",
        "object()", "timezone.utc", "contextlib.nullcontext()", "numpy.dtype('int8')", "types.SimpleNamespace(a=1)",
    ],
    "time and datetime with any": ["moment(2020, 1, 1, tzinfo=Zone())", "time(1, tzinfo=Zone())"],
    "Fraction, range": ["Fraction(1, 1 << 17_000)", "range(1 << 17_000)"],
    "what is nested": ["nested(300)", "nested(3000)", "cycle()"],
    "a key of a dict": ["{Sub([1]): 2}", "{Sub([1])}", "{(1, Sub()): 2}"],
    "a dict or set of which": ["{Apart('a'): 1, Apart('a'): 2}", "{Apart('a'), Apart('a')}"],
}  # fmt: skip

TOO_LARGE = {
    "a value whose text": [
        "shared()", "'x' * 600_000", "1 << 3_000_000", "list(range(200_000))", "b'x' * 300_000",
        "numpy.broadcast_to(numpy.int8(0), (10**6, 10**6))", "numpy.broadcast_to(numpy.int8(0), (10**9, 0))",
        "numpy.broadcast_to(numpy.int8(0), (1, 10**9, 0))",
    ],
}  # fmt: skip


def rows() -> Iterator[str]:
    """The first cell of each row of the table."""
    table = DOCS.read_text().partition("\n## Values\n")[2].partition("\n## ")[0]
    yield from re.findall(r"^\| (?!value \|)([^|]+) \|", table, re.MULTILINE)


@cache
def names() -> dict[str, object]:
    made: dict[str, object] = {}
    exec(compile(SOURCE, "examples", "exec"), made)
    return made


def here(expression: str) -> object:
    return eval(expression, names())


def crossed(expression: str) -> object:
    """The value that crosses when a completion returns the expression's."""
    return decoded(encode.encode(here(expression), CAP))


def examples(table: dict[str, list[str]]) -> list[str]:
    return [example for row in table.values() for example in row]


def test_each_row_has_examples_and_each_example_a_row() -> None:
    starts = [*ITSELF, *CHANGED, *NO_DATA, *TOO_LARGE]
    for row in rows():
        assert any(row.startswith(start) for start in starts), row
    for start in starts:
        assert any(row.startswith(start) for row in rows()), start
    assert len(list(rows())) == len(set(starts))


@pytest.mark.parametrize("expression", examples(ITSELF))
def test_what_crosses_as_itself(expression: str) -> None:
    value, wanted = crossed(expression), here(expression)
    assert (type(value), repr(value)) == (type(wanted), repr(wanted))


@pytest.mark.parametrize(("expression", "wanted"), [pair for row in CHANGED.values() for pair in row.items()])
def test_what_crosses_as_something_else(expression: str, wanted: str) -> None:
    assert repr(crossed(expression)) == repr(here(wanted))


@pytest.mark.parametrize("expression", examples(NO_DATA))
def test_objects_that_are_not_data(expression: str) -> None:
    assert holds_no_data(crossed(expression))


def holds_no_data(value: object) -> bool:
    while True:
        if isinstance(value, Opaque):
            return True
        if isinstance(value, tuple):
            return any(map(holds_no_data, value))
        if not isinstance(value, list | dict | set | frozenset) or len(value) != 1:
            return False
        value = next(iter(value))


@pytest.mark.parametrize("expression", examples(TOO_LARGE))
def test_what_is_too_large(expression: str) -> None:
    with pytest.raises(encode.TooLargeError):
        crossed(expression)
