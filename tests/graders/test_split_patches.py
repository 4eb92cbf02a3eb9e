"""Tests replace names of libraries in both processes; names of the completion only in its own process."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer, suite_task


def _row(
    name: str, check: str, right: str, wrong: str, attack: str = "", before: str = "", *, verified: bool = True
) -> Row:
    return Row(name, check_task(check, before=before), right, wrong, attack, verified=verified, objects=True)


_MOCK = "from unittest.mock import MagicMock, mock_open, patch\n"
_ASKS = """
def f(): return int(input('n? ')) * 2
"""

# fmt: off
ROWS = [
    _row("name-of-the-completion", """
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
    _row("builtins-input", """
        with patch('builtins.input', side_effect=['3', '4']) as asked:
            assert candidate() == 6
            assert candidate() == 8
        assert asked.call_count == 2
        """,
        before=_MOCK,
        right=_ASKS,
        wrong="def f(): return int(input()) + 3",
        attack=LIAR + "def f(): return input() and Liar()"),
    _row("function-of-a-module", """
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
    _row("the-environment", """
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
    _row("standard-input", """
        sys.stdin = io.StringIO('3\\n4\\n')
        assert candidate() == 6
        assert candidate() == 8
        """,
        before="import io, sys\n",
        right=_ASKS,
        wrong="def f(): return int(input()) + 3",
        verified=False),
    _row("a-mock-as-an-argument", """
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
    Row("decorators-in-a-suite", suite_task("""
            import unittest
            from unittest.mock import patch
            class TestFetch(unittest.TestCase):
                @patch('urllib.request.urlopen')
                def test_fetch(self, urlopen):
                    urlopen.return_value.read.return_value = b'{"n": 2}'
                    self.assertEqual(f('http://host'), 2)
                    urlopen.assert_called_once_with('http://host')
                @patch('random.choice', side_effect=max)
                def test_choice(self, choice):
                    self.assertEqual(f(None), 3)
            """),
        right="""
        import json, random, urllib.request
        def f(url):
            if url is None: return random.choice([1, 3, 2])
            return json.loads(urllib.request.urlopen(url).read())['n']
        """, wrong="""
        import json, random, urllib.request
        def f(url):
            if url is None: return max([1, 3, 2])
            return urllib.request.urlopen(url).read()
        """, attack="""
        import unittest
        unittest.TestCase.assertEqual = lambda *_: None
        import urllib.request
        def f(url): url and urllib.request.urlopen(url)
        """,
        objects=True),
]
# fmt: on


@each_answer(ROWS)
def test_names_are_also_replaced_for_the_completion(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
