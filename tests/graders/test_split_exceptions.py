"""Checks that expect exceptions: of Python, of its library, of the dataset and of the completion."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer

_HALF = """
def f(n):
    if not isinstance(n, int): raise TypeError(f'an int is asked for, not {n!r}')
    if n % 2: raise ValueError('odd', n)
    return n // 2
"""

BUILTIN = [
    Row(
        "attributes-of-builtins",
        check_task(
            """
            def caught(name):
                try:
                    candidate(name)
                except (StopIteration, Exception) as error:
                    return error
            assert caught('key').args == ('k',) and str(caught('key')) == "'k'"
            assert caught('stop').value == 7
            assert (caught('file').errno, caught('file').filename) == (2, '/no/such')
            assert isinstance(caught('file'), FileNotFoundError) and isinstance(caught('file'), OSError)
            assert (caught('code').start, caught('code').encoding) == (0, 'ascii')
            assert caught('name').name == 'unknown_name'
            assert isinstance(caught('deep').__cause__, KeyError)
            assert [type(each) for each in caught('group').exceptions] == [ValueError, KeyError]
            assert caught('note').__notes__ == ['a note']
            """
        ),
        right="""
        def f(name):
            match name:
                case 'key': return {}['k']
                case 'stop': raise StopIteration(7)
                case 'file': return open('/no/such')
                case 'code': return 'ü'.encode('ascii')
                case 'name': return unknown_name
                case 'group': raise ExceptionGroup('two', [ValueError(1), KeyError(2)])
                case 'note':
                    error = ValueError()
                    error.add_note('a note')
                    raise error
                case 'deep':
                    try: {}['k']
                    except KeyError as error: raise ValueError from error
        """,
        wrong="def f(name): raise KeyError('k')",
    ),
    Row(
        "not-the-one-that-is-expected",
        check_task(
            """
            try:
                candidate(3)
            except KeyError:
                pass
            else:
                assert False, 'no exception'
            """
        ),
        right="def f(n): raise KeyError(n)",
        wrong="def f(n): raise IndexError(n)",
        fails=Verdict.RUNTIME_ERROR,
    ),
    Row(
        "leaving-where-that-is-expected",
        check_task(
            """
            try:
                candidate(3)
            except SystemExit as left:
                code = left.code
            assert code == 3
            """
        ),
        right="""
        import sys
        def f(n): sys.exit(n)
        """,
        wrong="""
        import sys
        def f(n): sys.exit(0)
        """,
        attack="""
        import os
        def f(n): os._exit(0)
        """,
    ),
]

OWN = [
    Row(
        "a-family-of-its-own",
        check_task(
            """
            caught = []
            for name in ('full', 'empty', 'other'):
                try:
                    candidate(name)
                except Full:
                    caught.append('full')
                except StackError as error:
                    caught.append(type(error).__name__)
            assert caught == ['full', 'Empty', 'StackError']
            """
        ),
        right="""
        class StackError(Exception): pass
        class Full(StackError): pass
        class Empty(StackError): pass
        def f(name): raise {'full': Full, 'empty': Empty}.get(name, StackError)
        """,
        wrong="""
        class StackError(Exception): pass
        class Full(StackError): pass
        class Empty(Full): pass
        def f(name): raise {'full': Full, 'empty': Empty}.get(name, StackError)
        """,
    ),
]

ROWS = [*BUILTIN, *OWN]


@each_answer(ROWS)
def test_exceptions_are_those_that_were_raised(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
