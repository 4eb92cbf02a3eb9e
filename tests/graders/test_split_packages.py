"""Tests that need packages of the user's interpreter: pandas' frames and series."""

import sys
from collections.abc import Iterator

import pytest

from evaluator.sandbox import Sandbox, Settings
from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox with all packages of this interpreter, as with `--python`."""
    with Sandbox(Settings(python=sys.executable)) as made:
        yield made


# fmt: off
FRAMES = Row("frames", check_task("""
        given = pd.DataFrame({'name': ['a', 'b', 'a'], 'n': [1, 2, 3]})
        got = candidate(given)
        wanted = pd.DataFrame({'name': ['a', 'b'], 'n': [4, 2]})
        pd.testing.assert_frame_equal(got, wanted)
        assert got.equals(wanted) and isinstance(got, pd.DataFrame)
        assert list(got.columns) == ['name', 'n'] and got.shape == (2, 2)
        assert got.loc[got['n'] > 2, 'name'].tolist() == ['a']
        """, before="import pandas as pd", preamble="import pandas as pd"),
    right="def f(frame): return frame.groupby('name', as_index=False)['n'].sum()",
    wrong="def f(frame): return frame.groupby('name', as_index=False)['n'].max()",
    attack="""
        class Frame(pd.DataFrame):
            equals = lambda self, other: True
        pd.testing.assert_frame_equal = lambda *_, **__: None
        def f(frame): return Frame({'name': ['a', 'b'], 'n': [3, 2]})
        """)
# fmt: on


@each_answer([FRAMES])
def test_both_sides_have_the_packages(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
