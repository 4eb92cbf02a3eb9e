"""Tests that need packages of the user's interpreter: pandas' frames and series, and pytest."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from evaluator.sandbox import Sandbox, Settings
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox with all packages of this interpreter, as with `--python`."""
    with Sandbox(Settings(python=sys.executable)) as made:
        yield made


def _row(name: str, check: str, right: str, wrong: str, attack: str = "", *, verified: bool | None = True) -> Row:
    """A row whose test and completions import pandas as pd."""
    task = check_task(check, before="import pandas as pd", preamble="import pandas as pd")
    return Row(name, task, right, wrong, attack, verified=verified)


# fmt: off
ROWS = [
    _row("frames", """
        given = pd.DataFrame({'name': ['a', 'b', 'a'], 'n': [1, 2, 3]})
        got = candidate(given)
        wanted = pd.DataFrame({'name': ['a', 'b'], 'n': [4, 2]})
        pd.testing.assert_frame_equal(got, wanted)
        assert got.equals(wanted) and isinstance(got, pd.DataFrame)
        assert list(got.columns) == ['name', 'n'] and got.shape == (2, 2)
        assert got.loc[got['n'] > 2, 'name'].tolist() == ['a']
        """,
        right="def f(frame): return frame.groupby('name', as_index=False)['n'].sum()",
        wrong="def f(frame): return frame.groupby('name', as_index=False)['n'].max()",
        attack=LIAR + """
class Frame(pd.DataFrame):
    equals = lambda self, other: True
pd.testing.assert_frame_equal = lambda *_, **__: None
def f(frame):
    found = Frame({'name': ['a', 'b'], 'n': [3, 2]})
    return found
"""),
    _row("changed-in-place", """
        frame = pd.DataFrame({'n': [3, None, 1]})
        candidate(frame)
        assert frame['n'].tolist() == [3.0, 0.0, 1.0]
        assert frame['twice'].tolist() == [6.0, 0.0, 2.0]
        """, right="""
        def f(frame):
            frame.fillna(0, inplace=True)
            frame['twice'] = frame['n'] * 2
        """, wrong="""
        def f(frame):
            frame = frame.fillna(0)
            frame['twice'] = frame['n'] * 2
        """,
        verified=None),
    _row("columns-of-objects", """
        got = candidate([3, 4])
        assert got['thing'].map(lambda thing: thing.size).tolist() == [3, 4]
        """, right="""
        class Thing:
            def __init__(self, size): self.size = size
        def f(sizes): return pd.DataFrame({'thing': [Thing(size) for size in sizes]})
        """, wrong="""
        class Thing:
            def __init__(self, size): self.size = 3
        def f(sizes): return pd.DataFrame({'thing': [Thing(size) for size in sizes]})
        """,
        verified=None),
    _row("class-of-its-own", """
        got = candidate({'n': [1, 2]})
        assert got.total() == 3 and got.shape == (2, 1)
        """, right="""
        class Table(pd.DataFrame):
            def total(self): return int(self['n'].sum())
        def f(data): return Table(data)
        """, wrong="""
        class Table(pd.DataFrame):
            def total(self): return int(self['n'].max())
        def f(data): return Table(data)
        """,
        verified=False),
]
# fmt: on

_HALF = """
def f(n):
    if not isinstance(n, int): raise TypeError(f'an int is asked for, not {n!r}')
    if n % 2: raise ValueError('odd', n)
    return n // 2
"""


@each_answer(ROWS)
def test_both_sides_have_the_packages(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
