"""Checks on what stays between calls: globals, random numbers, what a function says of itself; and deep recursion."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

GLOBALS = [
    Row(
        "globals-that-are-read",
        check_task(
            """
            assert MOD == 7 and candidate(9) == 9 % MOD
            assert count == 1
            candidate(1)
            assert count == 2
            """
        ),
        right="""
        MOD, count = 7, 0
        def f(n):
            global count
            count += 1
            return n % MOD
        """,
        wrong="""
        MOD, count = 7, 1
        def f(n): return n % MOD
        """,
        attack=LIAR
        + """
MOD = count = Liar()
Liar.__rmod__ = lambda self, other: self
def f(n): return Liar()
""",
    ),
    Row(
        "globals-that-can-be-changed",
        check_task(
            """
            assert cache == {}
            candidate(2)
            assert cache == {2: 4}
            cache[3] = 'known'
            assert candidate(3) == 'known'
            cache.clear()
            assert candidate(3) == 9
            """
        ),
        right="""
        cache = {}
        def f(n): return cache.setdefault(n, n * n)
        """,
        wrong="""
        cache = {}
        def f(n):
            cache[n] = n * n
            return cache[n]
        """,
    ),
    Row(
        "helpers-of-the-completion",
        check_task(
            """
            assert helper(3) == 6
            assert candidate([1, 2]) == [helper(1), helper(2)]
            """
        ),
        right="""
        def helper(n): return 2 * n
        def f(items): return list(map(helper, items))
        """,
        wrong="""
        def helper(n): return 2 * n
        def f(items): return [helper(1)]
        """,
    ),
    Row(
        "attributes-of-the-function",
        check_task(
            """
            assert candidate(2) == 4 and candidate(2) == 4
            assert candidate.calls == 2
            candidate.calls = 10
            candidate(1)
            assert candidate.calls == 11
            """
        ),
        right="""
        def f(n):
            f.calls += 1
            return 2 * n
        f.calls = 0
        """,
        wrong="""
        def f(n): return 2 * n
        f.calls = 2
        """,
        verified=None,
    ),
    Row(
        "cached-by-the-library",
        check_task(
            """
            assert candidate(3) == candidate(3) == 9
            assert candidate.cache_info().hits == 1
            candidate.cache_clear()
            assert candidate.cache_info().currsize == 0
            assert candidate.__wrapped__(4) == 16
            """
        ),
        right="""
        from functools import lru_cache
        @lru_cache
        def f(n): return n * n
        """,
        wrong="""
        from functools import lru_cache
        @lru_cache(maxsize=0)
        def f(n): return n * n
        """,
    ),
    Row(
        "the-environment",
        check_task(
            """
            os.environ['GREETING'] = 'hello'
            assert candidate('GREETING') == 'hello'
            del os.environ['GREETING']
            assert candidate('GREETING') is None
            """,
            before="import os",
        ),
        right="""
        import os
        def f(name): return os.environ.get(name)
        """,
        wrong="def f(name): return 'hello'",
        verified=None,
    ),
]

SAID = [
    Row(
        "name-and-text",
        check_task(
            """
            assert candidate.__name__ == 'f' and callable(candidate)
            assert candidate.__doc__ == 'Doubles.'
            assert candidate.__annotations__ == {'n': int, 'return': int}
            assert candidate(2) == 4
            """
        ),
        right="""
        def f(n: int) -> int:
            'Doubles.'
            return 2 * n
        """,
        wrong="""
        def f(n: int) -> int:
            return 2 * n
        """,
    ),
    Row(
        "signature",
        check_task(
            """
            found = inspect.signature(candidate)
            assert list(found.parameters) == ['a', 'b', 'rest', 'key']
            assert found.parameters['b'].default == 2
            assert found.parameters['key'].kind is inspect.Parameter.KEYWORD_ONLY
            assert str(found) == '(a, b=2, *rest, key=None)'
            assert inspect.isfunction(candidate) and not inspect.isgeneratorfunction(candidate)
            """,
            before="import inspect",
        ),
        right="def f(a, b=2, *rest, key=None): pass",
        wrong="def f(a, b=3, *rest, key=None): pass",
    ),
    Row(
        "source",
        check_task(
            """
            text = inspect.getsource(candidate)
            assert text.startswith('def f(') and 'sorted' not in text
            assert candidate([2, 1]) == [1, 2]
            """,
            before="import inspect",
        ),
        right="""
        import heapq
        def f(items):
            heapq.heapify(items)
            return [heapq.heappop(items) for _ in range(len(items))]
        """,
        wrong="def f(items): return sorted(items)",
        attack="""
        import inspect
        inspect.getsource = lambda _: 'def f('
        def f(items): return sorted(items)
        """,
    ),
]

CHANCE = [
    Row(
        "a-seed-in-the-check",
        check_task(
            """
            random.seed(42)
            got = candidate(5)
            random.seed(42)
            assert got == [random.random() for _ in range(5)]
            """,
            before="import random",
        ),
        right="""
        import random
        def f(n): return [random.random() for _ in range(n)]
        """,
        wrong="""
        import random
        def f(n): return [random.Random(1).random() for _ in range(n)]
        """,
        attack="""
        import random
        random.random = lambda: 0
        def f(n): return [0] * n
        """,
    ),
    Row(
        "what-the-completion-used-up",
        check_task(
            """
            random.seed('a')
            candidate()
            after = random.randint(0, 10**9)
            random.seed('a')
            random.shuffle([1, 2, 3, 4])
            assert after == random.randint(0, 10**9)
            """,
            before="import random",
        ),
        right="""
        import random
        def f():
            items = [4, 3, 2, 1]
            random.shuffle(items)
        """,
        wrong="def f(): pass",
    ),
    Row(
        "a-seed-in-the-completion",
        check_task(
            """
            candidate(5)
            got = random.random()
            candidate(5)
            assert got == random.random()
            random.seed(5)
            assert got == random.random()
            """,
            before="import random",
        ),
        right="""
        import random
        def f(n): random.seed(n)
        """,
        wrong="""
        import random
        def f(n): random.seed(n + 1)
        """,
    ),
    Row(
        "a-seed-of-numpy",
        check_task(
            """
            np.random.seed(3)
            got = candidate(2)
            tail = np.random.rand()
            np.random.seed(3)
            assert (got == np.random.rand(2)).all() and tail == np.random.rand()
            candidate(None)
            assert np.random.randint(100) == np.random.RandomState(9).randint(100)
            """,
            before="import numpy as np",
        ),
        right="""
        import numpy as np
        def f(n): return np.random.rand(n) if n else np.random.seed(9)
        """,
        wrong="""
        import numpy as np
        def f(n): return np.random.RandomState(3).rand(n) if n else np.random.seed(9)
        """,
        attack="""
        import numpy as np
        np.random.seed = np.random.randint = lambda *_: 0
        np.random.RandomState = lambda *_: np.random
        np.random.rand = lambda n=(): np.zeros(n)
        def f(n): return np.random.rand(n) if n else None
        """,
    ),
    Row(
        "a-generator-that-is-given",
        check_task(
            """
            assert candidate(random.Random(3)) == random.Random(3).random()
            chance = random.Random(4)
            first, second = candidate(chance), candidate(chance)
            again = random.Random(4)
            assert [first, second] == [again.random(), again.random()]
            """,
            before="import random",
        ),
        right="def f(chance): return chance.random()",
        wrong="def f(chance): return 0.5",
        verified=None,
    ),
]

DEEP = [
    Row(
        "within-pythons-own-limit",
        check_task("for n in (5, 960): assert candidate(n) == n"),
        right="def f(n): return 1 + f(n - 1) if n else 0",
        wrong="def f(n): return 1 + f(n - 1) if n > 5 else 1",
    ),
    Row(
        "five-thousand-deep",
        check_task("for n in (10, 5000): assert candidate(n) == n * (n + 1) // 2"),
        right="""
        import sys
        from functools import lru_cache
        sys.setrecursionlimit(30_000)
        def f(n): return n + f(n - 1) if n else 0
        if sys.version_info < (3, 12):  # later ones go through C no deeper than they like, whatever is set
            f = lru_cache(maxsize=None)(f)
        """,
        wrong="""
        import sys
        def f(n): return n + f(n - 1) if n else 0
        """,
        fails=Verdict.RUNTIME_ERROR,
    ),
    Row(
        "limit-that-the-check-sets",
        check_task(
            """
            sys.setrecursionlimit(20_000)
            assert candidate(6000) == 6000
            assert sys.getrecursionlimit() == 20_000
            """,
            before="import sys",
        ),
        right="def f(n): return 1 + f(n - 1) if n else 0",
        wrong="def f(n): return 1 + f(n - 2) if n > 0 else 0",
        verified=None,
    ),
]

ROWS = [*GLOBALS, *SAID, *CHANCE, *DEEP]


@each_answer(ROWS)
def test_what_stays_is_seen_by_both(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
