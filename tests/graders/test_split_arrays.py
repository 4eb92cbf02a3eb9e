"""Checks on numpy's arrays and scalars: values, types, shapes, and arrays that are changed in place."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer


def _row(name: str, check: str, right: str, wrong: str, attack: str = "", *, verified: bool | None = True) -> Row:
    """A row whose test, and whose completions, have numpy as np."""
    task = check_task(check, before="import numpy as np", preamble="import numpy as np")
    return Row(name, task, right, wrong, attack, verified=verified)


COMPARED = [
    _row(
        "allclose",
        """
        for given, wanted in (([1, 4], [1, 2]), ([2.0], [1.4142135])):
            assert np.allclose(candidate(given), wanted)
        """,
        right="def f(items): return np.sqrt(items)",
        wrong="def f(items): return np.array(items)",
        attack="""
        np.allclose = lambda *_, **__: True
        def f(items): return 0
        """,
    ),
    _row(
        "numpy-testing",
        """
        np.testing.assert_allclose(candidate([1.0, 4.0]), [1, 2], rtol=1e-7)
        np.testing.assert_array_equal(candidate([np.nan, 9]), [np.nan, 3])
        np.testing.assert_almost_equal(candidate([2])[0], 1.41421, decimal=4)
        np.testing.assert_equal(candidate([]).shape, (0,))
        """,
        right="def f(items): return np.sqrt(items)",
        wrong="def f(items): return np.nan_to_num(np.sqrt(items))",
        attack=LIAR
        + """
class Array(Liar):
    shape = (0,)
    __array__ = lambda self, *_, **__: np.array(0.0)
for name in dir(np.testing):
    if name.startswith('assert_'): setattr(np.testing, name, lambda *_, **__: None)
def f(items): return Array()
""",
    ),
    _row(
        "equal-everywhere",
        """
        got = candidate(2)
        assert (got == np.eye(2)).all()
        assert np.array_equal(got, [[1, 0], [0, 1]])
        assert got.tolist() == [[1.0, 0.0], [0.0, 1.0]]
        """,
        right="def f(n): return np.eye(n)",
        wrong="def f(n): return np.ones((n, n))",
        attack=LIAR
        + """
class Array(np.ndarray):
    __eq__ = lambda self, other: Array(1)
    all = lambda self: True
    tolist = lambda self: Liar()
    __array_function__ = lambda self, *_: True
def f(n): return Array(1)
""",
    ),
    _row(
        "types-and-shapes",
        """
        got = candidate((2, 3), 'int16')
        assert got.dtype == np.int16 and got.shape == (2, 3) and got.ndim == 2
        assert isinstance(got, np.ndarray) and type(got) is np.ndarray
        assert candidate((), 'float32').shape == ()
        assert candidate((0, 4), 'complex128').dtype.name == 'complex128'
        assert candidate((2,), '>i4').dtype.byteorder == '>'
        """,
        right="def f(shape, kind): return np.zeros(shape, kind)",
        wrong="def f(shape, kind): return np.zeros(shape)",
        attack=LIAR
        + """
class Array(Liar):
    __class__ = property(lambda self: np.ndarray)
    dtype = shape = ndim = Liar()
    dtype.name = dtype.byteorder = dtype
import builtins
builtins.type = lambda value: np.ndarray
def f(shape, kind): return Array()
""",
    ),
    _row(
        "scalars-keep-their-type",
        """
        got = candidate([1, 2, 3])
        assert isinstance(got, np.floating) and got.dtype == np.float64
        assert type(got) is np.float64 and got == 2.0
        assert repr(candidate(np.array([1, 2], dtype=np.float32))) == 'np.float32(1.5)'
        assert type(candidate.__call__([4])) is np.float64
        assert {'mean': got} == {'mean': 2}
        """,
        right="def f(items): return np.mean(items)",
        wrong="def f(items): return float(np.mean(items))",
    ),
    _row(
        "kinds-of-items",
        """
        kinds = [
            np.array(['a', 'bc']), np.array([b'x']), np.array([True, False]), np.array([1 + 2j]),
            np.array(['2024-02-29', 'NaT'], dtype='datetime64[D]'), np.array([5], dtype='timedelta64[s]'),
            np.array([None, 'a', [1], {'k': 2}], dtype=object),
            np.array([(1, 2.5)], dtype=[('n', 'i4'), ('x', 'f8')]),
        ]
        for given in kinds:
            got = candidate(given)
            assert got.dtype == given.dtype and len(got) == len(given) + 1
            assert str(got[:-1]) == str(given) and str(got[-1]) == str(given[0])
        """,
        right="def f(items): return np.concatenate([items, items[:1]])",
        wrong="def f(items): return np.concatenate([items, items[-1:]])",
    ),
    _row(
        "order-in-memory",
        """
        given = np.arange(12).reshape(3, 4)
        got = candidate(given)
        assert got.shape == (4, 3) and got[3].tolist() == [3, 7, 11]
        assert candidate(given[::2, ::-1]).tolist() == [[3, 11], [2, 10], [1, 9], [0, 8]]
        assert candidate(np.asfortranarray(given)).sum(axis=1).tolist() == [12, 15, 18, 21]
        """,
        right="def f(items): return items.T",
        wrong="def f(items): return items.reshape(items.shape[::-1])",
    ),
    _row(
        "a-hundred-thousand-items",
        """
        given = np.arange(100_000, dtype=float)
        got = candidate(given)
        assert got[-1] == 99_999 * 100_000 / 2
        assert np.isclose(got, np.cumsum(given)).all()
        """,
        right="def f(items): return np.cumsum(items)",
        wrong="def f(items): return np.cumsum(items[::-1])[::-1]",
    ),
    _row(
        "a-masked-array",
        """
        got = candidate([1, -1, 3])
        assert got.sum() == 4 and got.mask.tolist() == [False, True, False]
        """,
        right="def f(items): return np.ma.masked_less(items, 0)",
        wrong="def f(items): return np.ma.masked_less(items, -1)",
        verified=None,
    ),
]

CHANGED = [
    _row(
        "in-place",
        """
        given = np.array([3, 1, 2])
        assert candidate(given) is given
        assert given.tolist() == [1, 2, 3]
        """,
        right="""
        def f(items):
            items.sort()
            return items
        """,
        wrong="def f(items): return np.sort(items)",
    ),
    _row(
        "a-view-of-a-larger-one",
        """
        board = np.zeros((3, 3), dtype=int)
        candidate(board[1])
        candidate(board[:, 2])
        assert board.tolist() == [[0, 0, 7], [7, 7, 7], [0, 0, 7]]
        """,
        right="def f(line): line[:] = 7",
        wrong="def f(line): line = line + 7",
    ),
    _row(
        "left-alone",
        """
        given = np.array([3.0, 1.0])
        assert (candidate(given) == [1.0, 3.0]).all()
        assert given[0] == 3.0
        """,
        right="def f(items): return np.sort(items)",
        wrong="""
        def f(items):
            items.sort()
            return items.copy()
        """,
    ),
    _row(
        "arrays-within-other-data",
        """
        given = {'x': np.ones(2), 'more': [np.zeros(1)]}
        got = candidate(given)
        assert got['x'] is given['x'] and given['x'].tolist() == [2.0, 2.0]
        assert got['sum'] == 4.0 and isinstance(got['sum'], np.float64)
        assert given['more'][0].tolist() == [5.0]
        """,
        right="""
        def f(data):
            data['x'] *= 2
            data['more'][0][0] = 5
            return {'x': data['x'], 'sum': data['x'].sum()}
        """,
        wrong="""
        def f(data):
            data['x'] = data['x'] * 2
            return {'x': data['x'], 'sum': data['x'].sum()}
        """,
    ),
    _row(
        "kept-by-an-object",
        """
        walker = candidate(np.zeros(2))
        walker.step()
        walker.place[1] = 5
        walker.step()
        assert walker.place.tolist() == [2.0, 5.0]
        """,
        right="""
        class Walker:
            def __init__(self, place): self.place = place
            def step(self): self.place[0] += 1
        f = Walker
        """,
        wrong="""
        class Walker:
            def __init__(self, place): self.place = place
            def step(self): self.place = self.place + 1
        f = Walker
        """,
    ),
]

ROWS = [*COMPARED, *CHANGED]


@each_answer(ROWS)
def test_arrays_cross_with_type_and_shape(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
