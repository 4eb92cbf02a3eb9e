"""Tests of what a completion prints, reads and writes: captured output, and files in a shared folder."""

from __future__ import annotations

from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

_CAPTURE = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
"""

# fmt: off
PRINTED = [
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

FILES = [
    Row("path-that-is-given", check_task("""
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'in.txt')
                with open(path, 'w') as file:
                    file.write('b\\na\\n')
                assert candidate(path) == 2
                with open(path) as file:
                    assert file.read() == 'a\\nb\\n'
                assert sorted(os.listdir(folder)) == ['in.txt', 'in.txt.old']
            """, before="import os, tempfile"),
        right="""
        import shutil
        def f(path):
            shutil.copy(path, path + '.old')
            with open(path) as file: lines = sorted(file)
            with open(path, 'w') as file: file.writelines(lines)
            return len(lines)
        """, wrong="""
        def f(path):
            with open(path) as file: return len(list(file))
        """, attack="""
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
        """),
]
# fmt: on

ROWS = [*PRINTED, *FILES]


@each_answer(ROWS)
def test_the_test_sees_output_and_files(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
