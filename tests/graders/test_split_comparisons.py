"""Tests that compare objects of a completion's classes with data and with each other, and which side decides."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

_RATIO = """
from math import gcd
class Ratio:
    def __init__(self, top, bottom): self.top, self.bottom = top, bottom
    def __eq__(self, other): return self.top * other.bottom == other.top * self.bottom
    def __lt__(self, other): return self.top * other.bottom < other.top * self.bottom
    def __add__(self, other):
        return Ratio(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)
"""

# fmt: off
UNNAMED = [
    Row("whatever-it-says-of-itself", check_task("""
            for given, wanted in ((2, 4), ('a', 'aa'), ([1], [1, 1])):
                assert candidate(given) == wanted
            """),
        right="def f(x): return x + x",
        wrong="def f(x): return 2",
        attack=LIAR + "def f(x): return Liar()"),
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
]

NAMED = [
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
    Row("a-class-that-the-prompt-names", check_task("""
            third, half = candidate(1, 3), candidate(1, 2)
            assert third < half and third == candidate(2, 6)
            assert sorted([half, third])[0].bottom == 3
            """, prompt="""
            def f(top, bottom):
                \"\"\"Returns an object of a class Ratio that can be compared.\"\"\"
            """),
        right=_RATIO + "def f(top, bottom): return Ratio(top, bottom)",
        wrong=_RATIO + "def f(top, bottom): return Ratio(bottom, top)",
        attack=LIAR + """
class Ratio(Liar):
    bottom = 3
def f(top, bottom): return Ratio()
""",
        verified=False),
    Row("a-sum-that-is-compared", check_task("assert Ratio(1, 2) + Ratio(1, 3) == Ratio(5, 6)", entry_point="Ratio"),
        right=_RATIO,
        wrong=_RATIO.replace("self.bottom * other.bottom)", "self.bottom + other.bottom)"),
        attack=LIAR + """
class Ratio(Liar):
    def __init__(self, *_): pass
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
]

CHANGED_BY_THE_TEST = [
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
# fmt: on

ROWS = [*UNNAMED, *NAMED, *CHANGED_BY_THE_TEST]


@each_answer(ROWS)
def test_comparisons_are_made_by_the_test(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
