"""Checks that need packages which an interpreter of the user's has: pandas' tables and series, and pytest."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from evaluator.sandbox import Sandbox, Settings
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One that shows all packages of this interpreter, as `--python` does."""
    with Sandbox(Settings(python=sys.executable)) as made:
        yield made


def _row(name: str, check: str, right: str, wrong: str, attack: str = "", *, verified: bool | None = True) -> Row:
    """A row whose test, and whose completions, have pandas as pd."""
    task = check_task(check, before="import pandas as pd", preamble="import pandas as pd")
    return Row(name, task, right, wrong, attack, verified=verified)


TABLES = [
    _row(
        "frames",
        """
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
        attack=LIAR
        + """
class Frame(pd.DataFrame):
    equals = lambda self, other: True
pd.testing.assert_frame_equal = lambda *_, **__: None
def f(frame):
    found = Frame({'name': ['a', 'b'], 'n': [3, 2]})
    return found
""",
    ),
    _row(
        "series-index-and-name",
        """
        got = candidate({'x': 1, 'y': 2})
        assert isinstance(got, pd.Series) and got.name == 'size'
        assert got.index.tolist() == ['x', 'y'] and got.index.name == 'key'
        assert str(got.dtype) == 'int32' and got['y'] == 2
        assert (got == pd.Series([1, 2], index=['x', 'y'])).all()
        """,
        right="def f(d): return pd.Series(d, name='size', dtype='int32').rename_axis('key')",
        wrong="def f(d): return pd.Series(d, name='size').rename_axis('key')",
    ),
    _row(
        "types-of-columns",
        """
        got = candidate()
        assert [str(kind) for kind in got.dtypes] == ['category', 'datetime64[us, UTC]', 'Int64', 'bool', 'float64']
        assert got['when'][0] == pd.Timestamp('2024-02-29', tz='UTC')
        assert got['whole'].isna().tolist() == [False, True] and got['part'].isna().tolist() == [True, False]
        assert got['kind'].cat.categories.tolist() == ['low', 'high']
        """,
        right="""
        def f():
            return pd.DataFrame({
                'kind': pd.Categorical(['high', 'low'], categories=['low', 'high']),
                'when': pd.to_datetime(['2024-02-29', '2024-03-01'], utc=True).astype('datetime64[us, UTC]'),
                'whole': pd.array([1, None], dtype='Int64'),
                'yes': [True, False],
                'part': [None, 0.5],
            })
        """,
        wrong="""
        def f():
            return pd.DataFrame({'kind': ['high', 'low'], 'whole': [1, None], 'yes': [True, False]})
        """,
    ),
    _row(
        "index-of-several-levels",
        """
        got = candidate(pd.DataFrame({'a': [1, 1, 2], 'b': ['x', 'y', 'x'], 'n': [1, 2, 3]}))
        assert got.index.names == ['a', 'b'] and got.loc[(1, 'y'), 'n'] == 2
        assert got.attrs == {'from': 'test'}
        """,
        right="""
        def f(frame):
            found = frame.set_index(['a', 'b'])
            found.attrs['from'] = 'test'
            return found
        """,
        wrong="def f(frame): return frame.set_index(['a', 'b'])",
    ),
    _row(
        "empty-and-mixed-with-data",
        """
        got = candidate(pd.DataFrame({'n': [1, 2]}))
        assert got['all'].shape == (2, 1) and got['none'].empty
        assert list(got['none'].columns) == ['n'] and got['stamp'] == pd.Timestamp(2024, 2, 29)
        assert got['missing'] is pd.NA and got['span'] == pd.Timedelta(days=1)
        """,
        right="""
        def f(frame):
            return {
                'all': frame,
                'none': frame[frame.n > 5],
                'stamp': pd.Timestamp('2024-02-29'),
                'missing': pd.NA,
                'span': pd.Timedelta('1D'),
            }
        """,
        wrong="""
        def f(frame):
            return {'all': frame, 'none': frame, 'stamp': '2024-02-29', 'missing': pd.NA, 'span': 1}
        """,
    ),
    _row(
        "changed-in-place",
        """
        frame = pd.DataFrame({'n': [3, None, 1]})
        candidate(frame)
        assert frame['n'].tolist() == [3.0, 0.0, 1.0]
        assert frame['twice'].tolist() == [6.0, 0.0, 2.0]
        """,
        right="""
        def f(frame):
            frame.fillna(0, inplace=True)
            frame['twice'] = frame['n'] * 2
        """,
        wrong="""
        def f(frame):
            frame = frame.fillna(0)
            frame['twice'] = frame['n'] * 2
        """,
        verified=None,
    ),
    _row(
        "functions-of-the-test-on-its-rows",
        """
        got = candidate(pd.DataFrame({'n': [1, 2]}), lambda n: n * 10)
        assert got['n'].tolist() == [10, 20]
        """,
        right="def f(frame, function): return frame.assign(n=frame['n'].map(function))",
        wrong="def f(frame, function): return frame",
    ),
    _row(
        "columns-of-anything",
        """
        got = candidate()
        assert got['x'].tolist() == [1, 'a', {2}, (3, [4])]
        assert isinstance(got['x'][2], set) and isinstance(got['x'][3], tuple)
        """,
        right="def f(): return pd.DataFrame({'x': [1, 'a', {2}, (3, [4])]})",
        wrong="def f(): return pd.DataFrame({'x': [1, 'a', [2], (3, [4])]})",
        attack="""
        class Set(set):
            __eq__ = lambda self, other: True
            __hash__ = None
        def f(): return pd.DataFrame({'x': [1, 'a', Set(), (3, Set())]})
        """,
        verified=None,
    ),
    _row(
        "columns-of-objects",
        """
        got = candidate([3, 4])
        assert got['thing'].map(lambda thing: thing.size).tolist() == [3, 4]
        """,
        right="""
        class Thing:
            def __init__(self, size): self.size = size
        def f(sizes): return pd.DataFrame({'thing': [Thing(size) for size in sizes]})
        """,
        wrong="""
        class Thing:
            def __init__(self, size): self.size = 3
        def f(sizes): return pd.DataFrame({'thing': [Thing(size) for size in sizes]})
        """,
        verified=None,
    ),
    _row(
        "class-of-its-own",
        """
        got = candidate({'n': [1, 2]})
        assert got.total() == 3 and got.shape == (2, 1)
        """,
        right="""
        class Table(pd.DataFrame):
            def total(self): return int(self['n'].sum())
        def f(data): return Table(data)
        """,
        wrong="""
        class Table(pd.DataFrame):
            def total(self): return int(self['n'].max())
        def f(data): return Table(data)
        """,
        verified=False,
    ),
    _row(
        "groups-of-a-frame",
        """
        got = candidate(pd.DataFrame({'k': ['a', 'b', 'a'], 'n': [1, 2, 3]}))
        assert got.ngroups == 2 and got['n'].sum().to_dict() == {'a': 4, 'b': 2}
        """,
        right="def f(frame): return frame.groupby('k')",
        wrong="def f(frame): return frame.groupby('n')",
        verified=None,
    ),
]

_HALF = """
def f(n):
    if not isinstance(n, int): raise TypeError(f'an int is asked for, not {n!r}')
    if n % 2: raise ValueError('odd', n)
    return n // 2
"""

PYTEST = [
    Row(
        "approx",
        check_task(
            """
            from pytest import approx
            assert candidate([2, 4]) == approx([1.4142135, 2])
            """
        ),
        right="def f(items): return [x ** 0.5 for x in items]",
        wrong="def f(items): return [x / 2 for x in items]",
        attack=LIAR + "def f(items): return Liar()",
    ),
    Row(
        "nothing-was-raised",
        check_task(
            """
            from pytest import raises
            with raises(ValueError):
                candidate(3)
            with raises((KeyError, TypeError), match='an int is'):
                candidate('x')
            """
        ),
        right=_HALF,
        wrong="def f(n): return n",
    ),
    Row(
        "pytest-raises",
        check_task(
            """
            import pytest
            with pytest.raises(ValueError) as caught:
                candidate(3)
            assert caught.value.args == ('odd', 3)
            assert caught.type is ValueError
            with pytest.raises(TypeError, match='not .x.'):
                candidate('x')
            """
        ),
        right=_HALF,
        wrong=_HALF.replace("not {n!r}", "not that"),
    ),
]

ROWS = [*TABLES, *PYTEST]


@each_answer(ROWS)
def test_packages_are_there_on_both_sides(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
