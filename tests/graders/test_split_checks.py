"""Tests as in datasets: helpers, exceptions, output, state between calls, replaced names, and whole suites."""

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

_CAPTURE = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
"""
_MOCK = "from unittest.mock import MagicMock, mock_open, patch\n"


def _replacing(
    name: str, check: str, right: str, wrong: str, attack: str = "", before: str = "", *, verified: bool = True
) -> Row:
    return Row(name, check_task(check, before=before), right, wrong, attack, verified=verified, objects=True)


# fmt: off
ROWS = [
    Row("name-that-nobody-defines", check_task("assert candidate(2) == helper_of_yours(2)"),
        right="""
        def helper_of_yours(n): return n + 1
        def f(n): return helper_of_yours(n)
        """, wrong="""
        def helper_of_yours(n): return n + 1
        def f(n): return n
        """, verified=False),
    Row("raises-while-it-is-loaded", check_task("for n in (1, 2): assert candidate(n) == n"),
        right="""
        def f(n): return n
        if __name__ == '__main__': print(f(1))
        """, wrong="""
        def f(n): return n
        raise ValueError
        """,
        fails=Verdict.COMPILE_ERROR),
    Row("not-the-one-that-is-expected", check_task("""
            try:
                candidate(3)
            except KeyError:
                pass
            else:
                assert False, 'no exception'
            """),
        right="def f(n): raise KeyError(n)",
        wrong="def f(n): raise IndexError(n)",
        fails=Verdict.RUNTIME_ERROR),
    Row("leaving-where-that-is-expected", check_task("""
            try:
                candidate(3)
            except SystemExit as left:
                code = left.code
            assert code == 3
            """),
        right="""
        import sys
        def f(n): sys.exit(n)
        """, wrong="""
        import sys
        def f(n): sys.exit(0)
        """, attack="""
        import os
        def f(n): os._exit(0)
        """),
    Row("an-assertion-in-a-callback", check_task("""
            def verify(n):
                assert n == 2, n
                return n
            assert candidate(verify) == 2
            """),
        right="def f(verify): return verify(2)",
        wrong="def f(verify): return verify(3)",
        attack="""
        def f(verify):
            try:
                return verify(3)
            except AssertionError:
                return 2
        """,
        verified=None),
    Row("a-seed-in-the-check", check_task("""
            random.seed(42)
            got = candidate(5)
            random.seed(42)
            assert got == [random.random() for _ in range(5)]
            """, before="import random"),
        right="""
        import random
        def f(n): return [random.random() for _ in range(n)]
        """, wrong="""
        import random
        def f(n): return [random.Random(1).random() for _ in range(n)]
        """, attack="""
        import random
        random.random = lambda: 0
        def f(n): return [0] * n
        """,
        objects=True),
    Row("five-thousand-deep", check_task("for n in (10, 5000): assert candidate(n) == n * (n + 1) // 2"),
        right="""
        import sys
        from functools import lru_cache
        sys.setrecursionlimit(30_000)
        def f(n): return n + f(n - 1) if n else 0
        if sys.version_info < (3, 12):  # later versions limit recursion through C, whatever is set
            f = lru_cache(maxsize=None)(f)
        """, wrong="""
        import sys
        def f(n): return n + f(n - 1) if n else 0
        """,
        fails=Verdict.RUNTIME_ERROR),
    Row("one-that-never-ends", check_task("assert list(candidate()) == [1, 2, 3]"),
        right="def f(): return (n for n in (1, 2, 3))",
        wrong="""
        def f():
            while True: yield 'x' * 1_000_000
        """,
        fails=Verdict.OUTPUT_LIMIT),
    Row("redirect-stdout", check_task("""
            out = io.StringIO()
            with redirect_stdout(out):
                assert candidate('ada') is None
            assert out.getvalue() == 'hello ada\\n'
            """, before=_CAPTURE),
        right="def f(name): print('hello', name)",
        wrong="def f(name): print('hello')",
        attack="""
        import io
        class Out(str):
            __eq__ = lambda self, other: True
        class Stream(io.StringIO):
            getvalue = lambda self: Out()
        io.StringIO = Stream
        def f(name): pass
        """),
]

REPLACED = [
    _replacing("name-of-the-completion", """
        with patch(f'{candidate.__module__}.fetch', return_value=[1, 2]) as fetch:
            assert candidate('a') == 3
        fetch.assert_called_once_with('a')
        """,
        before=_MOCK,
        right="""
        def fetch(name): raise OSError('no network')
        def f(name): return sum(fetch(name))
        """, wrong="""
        def fetch(name): raise OSError('no network')
        def f(name): return len(fetch(name))
        """, attack=LIAR + """
def fetch(name): raise OSError
def f(name):
    fetch(name)
    return Liar()
""",
        verified=False),
    _replacing("builtins-input", """
        with patch('builtins.input', side_effect=['3', '4']) as asked:
            assert candidate() == 6
            assert candidate() == 8
        assert asked.call_count == 2
        """,
        before=_MOCK,
        right="def f(): return int(input('n? ')) * 2",
        wrong="def f(): return int(input()) + 3",
        attack=LIAR + "def f(): return input() and Liar()"),
    _replacing("function-of-a-module", """
        with patch('time.sleep') as slept, patch('os.path.getsize', return_value=5), patch.object(math, 'pi', 3):
            assert candidate('x') == 15
        slept.assert_called_with(0.5)
        """,
        before=_MOCK + "import math\n",
        right="""
        import math, os, time
        def f(path):
            time.sleep(0.5)
            return os.path.getsize(path) * math.pi
        """, wrong="""
        import math, os, time
        def f(path): return os.path.getsize(path) * math.pi
        """),
    _replacing("the-environment", """
        with patch.dict(os.environ, {'HOST': 'here'}):
            assert candidate() == 'here'
        assert candidate() is None
        """,
        before=_MOCK + "import os\n",
        right="""
        import os
        def f(): return os.environ.get('HOST')
        """,
        wrong="def f(): return 'here'"),
    _replacing("a-mock-as-an-argument", """
        with patch('time.time', return_value=10.0):
            client = MagicMock()
            client.get.return_value.json.return_value = {'n': 2}
            assert candidate(client) == (2, 10.0)
        client.get.assert_called_once_with('/n')
        """,
        before=_MOCK,
        right="""
        import time
        def f(client): return client.get('/n').json()['n'], time.time()
        """, wrong="""
        import time
        def f(client): return client.get('/m').json()['n'], time.time()
        """),
]
# fmt: on


@each_answer([*ROWS, *REPLACED])
def test_tests_run_as_they_are_written(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)


def test_a_failed_assert_shows_its_input_and_the_tests_message(graded: Graded) -> None:
    task = check_task("for n, text in [(1, 'a'), (2, 'b')]:\n    assert candidate(n) == n * n, f'no {text}'")
    (case,) = graded(task, "def f(n): return 1").cases
    assert case.difference is not None
    assert case.difference.message == "`candidate(n) == n * n`, got `1`; the test says: no b; n is 2; text is 'b'"


def test_sides_that_look_alike_are_reported_as_different(graded: Graded) -> None:
    task = check_task("assert candidate(3) == candidate(3)", prompt="Write a class f.")
    (case,) = graded(task, "class f:\n    def __init__(self, n): self.n = n").cases
    assert case.difference is not None
    assert "which looks the same and is not equal" in case.difference.message
