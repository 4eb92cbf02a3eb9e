"""Tests of numpy's arrays and scalars: values, types, shapes, and arrays that are changed in place."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer


def _row(name: str, check: str, right: str, wrong: str, attack: str = "", *, verified: bool | None = True) -> Row:
    """A row whose test and completions import numpy as np."""
    task = check_task(check, before="import numpy as np", preamble="import numpy as np")
    return Row(name, task, right, wrong, attack, verified=verified)


# fmt: off
COMPARED = [
    _row("allclose", """
        for given, wanted in (([1, 4], [1, 2]), ([2.0], [1.4142135])):
            assert np.allclose(candidate(given), wanted)
        """,
        right="def f(items): return np.sqrt(items)",
        wrong="def f(items): return np.array(items)",
        attack="""
        np.allclose = lambda *_, **__: True
        def f(items): return 0
        """),
    _row("types-and-shapes", """
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
    _row("a-masked-array", """
        got = candidate([1, -1, 3])
        assert got.sum() == 4 and got.mask.tolist() == [False, True, False]
        """,
        right="def f(items): return np.ma.masked_less(items, 0)",
        wrong="def f(items): return np.ma.masked_less(items, -1)",
        verified=None),
]

CHANGED = [
    _row("in-place", """
        given = np.array([3, 1, 2])
        assert candidate(given) is given
        assert given.tolist() == [1, 2, 3]
        """, right="""
        def f(items):
            items.sort()
            return items
        """,
        wrong="def f(items): return np.sort(items)"),
]
# fmt: on

ROWS = [*COMPARED, *CHANGED]


@each_answer(ROWS)
def test_arrays_cross_with_type_and_shape(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)


def test_numpy_is_there_before_a_completion_whose_test_imports_it(graded: Graded) -> None:
    """Its import would take a tenth of a second of each completion's time."""
    task = check_task("for _ in range(2): assert candidate()", before="import numpy as np")
    program = "import sys\nREADY = 'num' 'py' in sys.modules\ndef f(): return READY\n"
    assert graded(task, program).verdict is Verdict.PASSED
