"""Checks that expect exceptions: of Python, of its library, of the dataset and of the completion."""

from __future__ import annotations

from evaluator.model import Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import LIAR, Answer, Row, check_task, each_answer

_HALF = """
def f(n):
    if not isinstance(n, int): raise TypeError(f'an int is asked for, not {n!r}')
    if n % 2: raise ValueError('odd', n)
    return n // 2
"""

BUILTIN = [
    Row(
        "try-and-except",
        check_task(
            """
            assert candidate(4) == 2
            try:
                candidate(3)
            except ValueError as error:
                assert error.args == ('odd', 3) and str(error) == "('odd', 3)"
                assert type(error) is ValueError
            else:
                raise AssertionError('no exception')
            """
        ),
        right=_HALF,
        wrong=_HALF.replace("('odd', n)", "(f'odd {n}')"),
        attack="""
        class Lie(ValueError):
            args = property(lambda self: ('odd', 3))
            __str__ = lambda self: "('odd', 3)"
        Lie.__name__ = 'ValueError'
        def f(n):
            if n == 4: return 2
            import builtins
            builtins.type = lambda *_: ValueError
            raise Lie
        """,
    ),
    Row(
        "exactly-this-class",
        check_task(
            """
            for given, kind in ((3, ValueError), ('x', TypeError)):
                try:
                    candidate(given)
                except Exception as error:
                    assert type(error) is kind and error.__class__.__name__ == kind.__name__
                else:
                    raise AssertionError('no exception')
            """
        ),
        right=_HALF,
        wrong=_HALF.replace("TypeError", "ValueError"),
    ),
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
        "standard-library",
        check_task(
            """
            import json, decimal, subprocess
            try:
                candidate('json')
            except json.JSONDecodeError as error:
                assert (error.pos, error.lineno, error.doc) == (1, 1, '{')
                assert isinstance(error, ValueError)
            try:
                candidate('process')
            except subprocess.CalledProcessError as error:
                assert error.returncode == 3
            try:
                candidate('decimal')
            except decimal.InvalidOperation:
                done = True
            assert done
            """
        ),
        right="""
        import decimal, json, subprocess
        def f(name):
            if name == 'json': return json.loads('{')
            if name == 'process': raise subprocess.CalledProcessError(3, ['x'])
            return decimal.Decimal('x')
        """,
        wrong="""
        import decimal, json, subprocess
        def f(name):
            if name == 'json': raise json.JSONDecodeError('bad', '{}', 0)
            if name == 'process': raise subprocess.CalledProcessError(3, ['x'])
            return decimal.Decimal('x')
        """,
    ),
    Row(
        "exception-that-is-returned",
        check_task(
            """
            got = candidate(3)
            assert isinstance(got, ValueError) and got.args == ('odd', 3)
            assert repr(got) == "ValueError('odd', 3)"
            """
        ),
        right="""
        def f(n):
            try: raise ValueError('odd', n)
            except ValueError as error: return error
        """,
        wrong="def f(n): return ValueError('odd')",
        attack=LIAR
        + """
class Error(ValueError):
    args = property(lambda self: Liar())
    __repr__ = lambda self: "ValueError('odd', 3)"
def f(n): return Error()
""",
    ),
    Row(
        "groups",
        check_task(
            """
            try:
                candidate([1, 'x', None])
            except* TypeError as group:
                kinds = [str(error) for error in group.exceptions]
            assert kinds == ["no int: 'x'", 'no int: None']
            """
        ),
        right="""
        def f(items):
            raise ExceptionGroup('bad', [TypeError(f'no int: {item!r}') for item in items if type(item) is not int])
        """,
        wrong="""
        def f(items):
            raise ExceptionGroup('bad', [TypeError(f'no int: {item!r}') for item in items])
        """,
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
    Row(
        "too-deep",
        check_task(
            """
            try:
                candidate(10 ** 6)
            except RecursionError as error:
                assert 'maximum recursion depth' in str(error)
            else:
                raise AssertionError('so deep')
            assert candidate(5) == 5
            """
        ),
        right="def f(n): return 1 + f(n - 1) if n else 0",
        wrong="def f(n): return n",
    ),
]

OWN = [
    Row(
        "class-of-the-completion",
        check_task(
            """
            try:
                candidate(-1)
            except Negative as error:
                assert error.amount == -1 and str(error) == 'no -1'
                assert isinstance(error, ValueError) and type(error) is Negative
                assert type(error).__name__ == 'Negative'
            else:
                raise AssertionError('no exception')
            assert issubclass(Negative, ValueError) and not issubclass(Negative, KeyError)
            """
        ),
        right="""
        class Negative(ValueError):
            def __init__(self, amount):
                super().__init__(f'no {amount}')
                self.amount = amount
        def f(amount):
            if amount < 0: raise Negative(amount)
        """,
        wrong="""
        class Negative(ValueError):
            amount = 0
        def f(amount):
            if amount < 0: raise Negative(f'no {amount}')
        """,
        attack=LIAR
        + """
class Negative(ValueError):
    amount = Liar()
    __str__ = lambda self: 'no -1'
def f(amount): raise Negative
""",
        objects=True,
    ),
    Row(
        "by-a-base-that-python-knows",
        check_task(
            """
            try:
                candidate('a')
            except LookupError as error:
                assert str(error) == 'missing a'
            try:
                candidate('b')
            except KeyError:
                assert False, 'no KeyError'
            except LookupError as error:
                assert error.args == ('missing b',)
            """
        ),
        right="""
        class Missing(LookupError): pass
        def f(name): raise Missing(f'missing {name}')
        """,
        wrong="""
        class Missing(KeyError): pass
        def f(name): raise Missing(f'missing {name}')
        """,
    ),
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
    Row(
        "class-of-the-dataset",
        check_task(
            """
            try:
                candidate(3)
            except Refused as error:
                assert error.code == 3 and error.why() == 'code 3'
            else:
                assert False, 'no exception'
            """,
            preamble="""
            class Refused(Exception):
                def __init__(self, code):
                    super().__init__(code)
                    self.code = code
                def why(self): return f'code {self.code}'
            """,
        ),
        right="def f(code): raise Refused(code)",
        wrong="def f(code): raise Refused(0)",
        attack=LIAR
        + """
Refused.why = lambda self: 'code 3'
def f(code): raise Refused(Liar())
""",
    ),
]

ROWS = [*BUILTIN, *OWN]


@each_answer(ROWS)
def test_exceptions_are_those_that_were_raised(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)
