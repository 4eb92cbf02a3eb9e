"""Tests of values and objects: their types, what they are equal to, numpy's arrays, classes of the dataset."""

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer, suite_task

_RATIO = """
class Ratio:
    def __init__(self, top, bottom): self.top, self.bottom = top, bottom
    def __eq__(self, other): return self.top * other.bottom == other.top * self.bottom
"""
_KEY = """
class Key:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def __hash__(self): return hash(self.n)
"""


def _numpy(name: str, check: str, right: str, wrong: str, attack: str = "", *, verified: bool | None = True) -> Row:
    """A row whose test and completions import numpy as np."""
    task = check_task(check, before="import numpy as np", preamble="import numpy as np")
    return Row(name, task, right, wrong, attack, verified=verified)


# fmt: off
VALUES = [
    Row("nan-and-infinity", check_task("""
            got = candidate('nan')
            assert got != got and math.isnan(got)
            assert candidate('inf') == math.inf
            assert candidate('-inf') == -math.inf
            """, before="import math"),
        right="def f(text): return float(text)",
        wrong="def f(text): return float(text.lstrip('-'))",
        attack="""
        class Nan:
            __eq__ = __ne__ = lambda self, other: True
            __float__ = lambda self: float('nan')
        def f(text): return Nan()
        """,
        objects=True),
    Row("hashed-by-its-own-code", check_task("""
            found = candidate(2)
            assert [key.n for key in found] == [2] and len({*found, *found}) == 1
            made = candidate({key: 1 for key in found})
            assert sorted(key.n for key in made) == [3]
            """),
        right=_KEY + "def f(n): return {Key(n): n} if n == 2 else {Key(key.n + 1) for key in n}",
        wrong=_KEY + "def f(n): return {Key(n): n} if n == 2 else {Key(key.n + 2) for key in n}", verified=None),
    Row("against-itself", check_task("""
            assert tuple(candidate([3, 1])) == tuple(f([3, 1]))
            assert candidate([2, 1]) == candidate([2, 1])
            """),
        right="def f(items): return sorted(items)",
        wrong="""
        seen = []
        def f(items):
            seen.append(items)
            return items * len(seen)
        """,
        attack=LIAR + "def f(items): return Liar() if items[0] == 2 else items", verified=False),
    Row("exact-type", check_task("""
            got = candidate(1)
            assert type(got) is int and got == 1
            assert isinstance(candidate(2), int)
            assert not isinstance(candidate(2), bool)
            assert (type(candidate(3)), candidate(3)) == (int, 3)
            """),
        right="def f(x): return x",
        wrong="def f(x): return x == 1 or float(x)"),
    Row("what-it-is", check_task("""
            got = candidate(2)
            assert isinstance(got, types.GeneratorType)
            assert isinstance(got, Iterator)
            assert iter(got) is got
            assert not hasattr(got, '__len__')
            assert list(got) == [0, 1] and list(got) == []
            """, before="""
            import types
            from collections.abc import Iterator
            """),
        right="""
        def f(n):
            yield from range(n)
        """,
        wrong="def f(n): return list(range(n))",
        attack="""
        import types
        class Items:
            __class__ = property(lambda self: types.GeneratorType)
            __iter__ = lambda self: self
            items = [0, 1]
            def __next__(self):
                if self.items: return self.items.pop(0)
                raise StopIteration
        def f(n): return Items()
        """,
        objects=True),
    Row("a-generator-of-the-tests", check_task("""
            def items():
                yield 1
                return 5
            assert list(candidate(items())) == [1, 6]
            """),
        right="""
        def f(given):
            last = yield from given
            yield last + 1
        """,
        wrong="def f(given): yield from given"),
]

ARRAYS = [
    _numpy("types-and-shapes", """
        got = candidate((2, 3), 'int16')
        assert got.dtype == np.int16 and got.shape == (2, 3) and got.ndim == 2
        assert isinstance(got, np.ndarray) and type(got) is np.ndarray
        assert candidate((), 'float32').shape == ()
        assert candidate((0, 4), 'complex128').dtype.name == 'complex128'
        assert candidate((2,), '>i4').dtype.byteorder == '>'
        """,
        right="def f(shape, kind): return np.zeros(shape, kind)",
        wrong="def f(shape, kind): return np.zeros(shape)",
        attack=LIAR + """
class Array(Liar):
    __class__ = property(lambda self: np.ndarray)
    dtype = shape = ndim = Liar()
    dtype.name = dtype.byteorder = dtype
import builtins
builtins.type = lambda value: np.ndarray
def f(shape, kind): return Array()
"""),
    _numpy("a-masked-array", """
        got = candidate([1, -1, 3])
        assert got.sum() == 4 and got.mask.tolist() == [False, True, False]
        """,
        right="def f(items): return np.ma.masked_less(items, 0)",
        wrong="def f(items): return np.ma.masked_less(items, -1)",
        verified=None),
]

COMPARED = [
    Row("data-on-the-left", check_task("""
            for given, wanted in ((2, 4), ('a', 'aa'), ([1], [1, 1])):
                assert wanted == candidate(given)
                assert not wanted != candidate(given)
                assert [wanted, 1] == [candidate(given), 1]
                assert {'got': candidate(given)} == {'got': wanted}
            """),
        right="def f(x): return x + x",
        wrong="def f(x): return x",
        attack=LIAR + "def f(x): return Liar()"),
    Row("the-type-of-a-value", check_task("assert candidate('') == str and candidate(2) == int"),
        right="def f(x): return type(x)",
        wrong="def f(x): return x",
        attack=LIAR + "def f(x): return Liar()"),
    Row("order-and-bounds", check_task("""
            assert 1 < candidate(1) <= 2
            assert candidate(5) >= 10
            assert max(5, candidate(3)) == 6
            assert sorted([candidate(2), 3]) == [3, 4]
            """),
        right="def f(x): return x + x",
        wrong="def f(x): return -x",
        attack=LIAR + "def f(x): return Liar()"),
    Row("an-equality-of-its-own", check_task("""
            assert candidate(1, 2) == Ratio(2, 4)
            assert not candidate(1, 2) == Ratio(1, 3)
            """),
        right=_RATIO + "def f(top, bottom): return Ratio(top, bottom)",
        wrong=_RATIO + "def f(top, bottom): return Ratio(bottom, top)",
        attack=LIAR + """
class Ratio(Liar):
    def __init__(self, *_): self.left = 1
    def __eq__(self, other):
        self.left, last = self.left - 1, self.left
        return last > 0
kept = None
def f(*_):
    global kept
    kept = kept or Ratio()
    return kept
""",
        verified=False),
    Row("equal-to-data", check_task("""
            version = Version('1.10')
            assert version == '1.10' and version > '1.9'
            assert not version == '1.1'
            """, entry_point="Version"),
        right="""
        class Version:
            def __init__(self, text): self.parts = list(map(int, text.split('.')))
            def __eq__(self, text): return self.parts == Version(text).parts
            def __gt__(self, text): return self.parts > Version(text).parts
        """, wrong="""
        class Version(str):
            pass
        """, attack=LIAR + """
class Version(Liar):
    def __init__(self, text): pass
    __eq__ = lambda self, text: text == '1.10'
""",
        verified=False),
    Row("an-attribute-that-the-test-sets-on-the-class", check_task("""
            setattr(Greeter, 'word', 'hi')
            assert Greeter('ada').greet() == 'hi ada'
            Greeter.word = 'bye'
            assert Greeter('bob').greet() == 'bye bob'
            """, entry_point="Greeter"),
        right="""
        class Greeter:
            word = 'hello'
            def __init__(self, name): self.name = name
            def greet(self): return f'{self.word} {self.name}'
        """, wrong="""
        class Greeter:
            def __init__(self, name): self.word, self.name = 'hi', name
            def greet(self): return f'{self.word} {self.name}'
        """,
        verified=False),
]

OF_THE_DATASETS_CLASSES = [
    Row("its-own-comparison", check_task("""
            assert candidate([Money(3), Money(1)]) == [Money(1), Money(3)]
            assert candidate([Money(2), Money(2)])[0] == Money(2)
            """, preamble="""
            from functools import total_ordering
            @total_ordering
            class Money:
                def __init__(self, amount): self.amount = amount
                def __eq__(self, other): return self.amount == other.amount
                def __lt__(self, other): return self.amount < other.amount
            """),
        right="def f(items): return sorted(items)",
        wrong="def f(items): return items",
        attack=LIAR + """
def f(items):
    kind = type(items[0])
    kind.__eq__ = Liar.__eq__
    return items
""",
        objects=True),
]
# fmt: on


@each_answer([*VALUES, *ARRAYS, *COMPARED, *OF_THE_DATASETS_CLASSES])
def test_values_and_objects_cross_unchanged(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)


def test_numpy_is_there_before_a_completion_whose_test_imports_it(graded: Graded) -> None:
    """Its import would take a tenth of a second of each completion's time."""
    task = check_task("for _ in range(2): assert candidate()", before="import numpy as np")
    program = "import sys\nREADY = 'num' 'py' in sys.modules\ndef f(): return READY\n"
    assert graded(task, program).verdict is Verdict.PASSED


_OF_MOCKS = """
import unittest
{}
class Test(unittest.TestCase):
    def test_it(self): self.assertEqual(f(), {})
"""
_LOOKS = """
import importlib, sys, unittest
READY = "unit" "test.mock" in sys.modules
def f(): return READY, hasattr(unittest, "mock"), hasattr(importlib, "util")
"""


def test_mocks_are_there_before_a_completion_whose_test_imports_them_and_no_other(graded: Graded) -> None:
    for imported, there in (("from unittest.mock import patch", True), ("", False)):
        grade = graded(suite_task(_OF_MOCKS.format(imported, (there,) * 3)), _LOOKS)
        assert grade.verdict is Verdict.PASSED, grade.cases


def test_a_completion_imports_mocks_by_itself(graded: Graded) -> None:
    program = "from unittest import mock\ndef f(): return mock.Mock(return_value=7)()\n"
    assert graded(suite_task(_OF_MOCKS.format("", 7)), program).verdict is Verdict.PASSED
