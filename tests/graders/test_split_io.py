"""Checks on what a completion prints, reads and writes: captured output, and files in a folder that both see."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

_CAPTURE = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
"""

PRINTED = [
    Row(
        "redirect-stdout",
        check_task(
            """
            out = io.StringIO()
            with redirect_stdout(out):
                assert candidate('ada') is None
            assert out.getvalue() == 'hello ada\\n'
            """,
            before=_CAPTURE,
        ),
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
        """,
    ),
    Row(
        "sys-stdout-replaced",
        check_task(
            """
            before = sys.stdout
            sys.stdout = io.StringIO()
            print('mine', end=' ')
            candidate(2)
            print('again')
            text = sys.stdout.getvalue()
            sys.stdout = before
            assert text == 'mine 0\\n1\\nagain\\n'
            """,
            before=_CAPTURE,
        ),
        right="""
        import sys
        def f(n):
            for i in range(n): sys.stdout.write(f'{i}\\n')
        """,
        wrong="""
        def f(n): print(*range(n))
        """,
    ),
    Row(
        "one-after-the-other",
        check_task(
            """
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                candidate('one')
            candidate('in between')
            with redirect_stdout(out):
                candidate('two')
            assert out.getvalue() == 'one\\ntwo\\n'
            assert err.getvalue() == 'note one\\n'
            """,
            before=_CAPTURE,
        ),
        right="""
        import sys
        def f(text):
            print(text)
            print('note', text, file=sys.stderr)
        """,
        wrong="""
        def f(text):
            print(text)
            print('note', text)
        """,
    ),
    Row(
        "in-the-order-of-callbacks",
        check_task(
            """
            out = io.StringIO()
            with redirect_stdout(out):
                candidate(lambda: print('inner'))
            assert out.getvalue().split() == ['before', 'inner', 'after']
            """,
            before=_CAPTURE,
        ),
        right="""
        def f(function):
            print('before')
            function()
            print('after')
        """,
        wrong="""
        def f(function):
            print('before')
            print('after')
            function()
        """,
    ),
    Row(
        "a-stream-that-is-given",
        check_task(
            """
            out = io.StringIO()
            candidate(out, ['a', 'b'])
            assert out.getvalue() == 'a\\nb\\n'
            """,
            before=_CAPTURE,
        ),
        right="""
        def f(out, words):
            for word in words: print(word, file=out)
        """,
        wrong="""
        def f(out, words):
            for word in words: print(word)
        """,
        verified=None,
    ),
    Row(
        "warnings",
        check_task(
            """
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter('always')
                candidate(-1)
            assert [str(each.message) for each in seen] == ['negative']
            assert seen[0].category is UserWarning
            """,
            before="import warnings",
        ),
        right="""
        import warnings
        def f(n):
            if n < 0: warnings.warn('negative')
        """,
        wrong="""
        import warnings
        def f(n):
            if n < 0: warnings.warn('negative', DeprecationWarning)
        """,
        verified=None,
    ),
]

FILES = [
    Row(
        "path-that-is-given",
        check_task(
            """
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'in.txt')
                with open(path, 'w') as file:
                    file.write('b\\na\\n')
                assert candidate(path) == 2
                with open(path) as file:
                    assert file.read() == 'a\\nb\\n'
                assert sorted(os.listdir(folder)) == ['in.txt', 'in.txt.old']
            """,
            before="import os, tempfile",
        ),
        right="""
        import shutil
        def f(path):
            shutil.copy(path, path + '.old')
            with open(path) as file: lines = sorted(file)
            with open(path, 'w') as file: file.writelines(lines)
            return len(lines)
        """,
        wrong="""
        def f(path):
            with open(path) as file: return len(list(file))
        """,
        attack="""
        import builtins, os
        class Text(str):
            __eq__ = lambda self, other: True
        class File:
            __enter__ = lambda self: self
            __exit__ = lambda self, *_: None
            read = lambda self: Text()
        os.listdir = lambda *_: ['in.txt', 'in.txt.old']
        def f(path):
            builtins.open = lambda *_: File()
            return 2
        """,
    ),
    Row(
        "relative-paths",
        check_task(
            """
            with open('given.txt', 'w') as file:
                file.write('abc')
            candidate('given.txt', 'made.txt')
            assert os.path.exists('made.txt') and os.path.getsize('made.txt') == 3
            assert Path('made.txt').read_text() == 'ABC'
            assert not os.path.exists('given.txt')
            """,
            before="""
            import os
            from pathlib import Path
            """,
        ),
        right="""
        import os
        from pathlib import Path
        def f(source, target):
            Path(target).write_text(Path(source).read_text().upper())
            os.remove(source)
        """,
        wrong="""
        from pathlib import Path
        def f(source, target):
            Path(target).write_text(Path(source).read_text().upper())
        """,
    ),
    Row(
        "the-current-folder",
        check_task(
            """
            assert candidate() == os.getcwd()
            os.mkdir('inner')
            assert candidate() == os.getcwd() and sorted(os.listdir()).count('inner') == 1
            """,
            before="import os",
        ),
        right="""
        import os
        def f(): return os.path.abspath('.')
        """,
        wrong="""
        import os
        def f(): return os.path.abspath('..')
        """,
    ),
    Row(
        "another-current-folder",
        check_task(
            """
            here = os.getcwd()
            os.mkdir('inner')
            os.chdir('inner')
            candidate('a.txt')
            os.chdir(here)
            assert open('inner/a.txt').read() == 'made'
            """,
            before="import os",
        ),
        right="""
        def f(path):
            with open(path, 'w') as file: file.write('made')
        """,
        wrong="""
        def f(path):
            with open(path, 'w') as file: file.write('')
        """,
        verified=None,
    ),
    Row(
        "paths-as-values",
        check_task(
            """
            with tempfile.NamedTemporaryFile('w', suffix='.csv', delete=False) as file:
                file.write('a,b\\n1,2\\n')
            got = candidate(Path(file.name))
            assert got == [['a', 'b'], ['1', '2']]
            os.unlink(file.name)
            """,
            before="""
            import os, tempfile
            from pathlib import Path
            """,
        ),
        right="""
        import csv
        def f(path):
            with path.open(newline='') as file: return list(csv.reader(file))
        """,
        wrong="""
        def f(path): return [path.read_text().split()]
        """,
        attack=LIAR + "def f(path): return Liar()",
    ),
    Row(
        "data-files-of-bytes",
        check_task(
            """
            path = tempfile.mktemp(dir='.')
            candidate(path, {'a': [1, 2]})
            with open(path, 'rb') as file:
                assert pickle.load(file) == {'a': [1, 2]}
            """,
            before="import pickle, tempfile",
        ),
        right="""
        import pickle
        def f(path, value):
            with open(path, 'wb') as file: pickle.dump(value, file)
        """,
        wrong="""
        import pickle
        def f(path, value):
            with open(path, 'wb') as file: pickle.dump(list(value), file)
        """,
        attack="""
        import pickle
        LIAR = "type('Liar', (), {'__eq__': lambda self, other: True})()"
        class Made:
            def __reduce__(self): return eval, (LIAR,)
        def f(path, value):
            with open(path, 'wb') as file: pickle.dump(Made(), file)
        """,
        verified=None,
    ),
]

ROWS = [*PRINTED, *FILES]


@each_answer(ROWS)
def test_output_and_files_are_seen_by_the_check(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
