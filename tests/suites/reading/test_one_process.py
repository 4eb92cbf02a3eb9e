"""Which checks can only be decided in the completion's own process."""

import pytest

from evaluator.suites.reading.plan import plan_suite
from tests.suites.reading.check_tasks import IMPORTS, source, suite, task


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("with patch('__main__.helper'): f(1)", "replaces one of the completion's names with `patch`"),
        ("with patch.object(Base, 'run'): f(1)", "replaces one of the completion's names with `patch`"),
        ("p = patch.dict({}, a=1); p.start(); f(1)", "changes a dict with `patch`"),
        ("with patch('sys.stdin', io.StringIO('1')): f(1)", "uses sys.stdin"),
        ("asyncio.run(f(1))", "awaits coroutines"),
        ("assert dataclasses.asdict(f(1)) == {}", "reads the fields of dataclasses"),
        ("assert inspect.signature(f)", "inspects functions or frames"),
        ("sys.stdin = io.StringIO('1'); f(1)", "sets `sys.stdin`"),
        ("f(sys.stdin)", "uses sys.stdin"),
        ("sys.modules['requests'] = None; f(1)", "uses sys.modules"),
        ("random.random = lambda: 0.5; f(1)", "sets `random.random`"),
        ("setattr(time, 'sleep', print); f(1)", "sets `time.sleep`"),
        ("builtins.__dict__['x'] = 1; f(1)", "accesses `builtins.__dict__`"),
        ("__builtins__.x = f(1)", "uses `__builtins__`"),
        ("import __main__; __main__.x = f(1)", "imports __main__"),
        ("import solution; f(solution.x)", "imports solution"),
        ("f.cache = {}", "sets an attribute of `f`"),
        ("del f.cache", "sets an attribute of `f`"),
        ("setattr(f, 'x', 1)", "sets an attribute of `f`"),
        ("setattr(Base, name, 1); f(1)", "sets an attribute of `Base`"),
        ("class Mine(Base): pass", "subclasses `Base`, which the completion defines"),
        ("Mine = type('Mine', (Base,), {}); f(1)", "subclasses `Base`, which the completion defines"),
        ("f.__globals__['x'] = 1", "accesses `f.__globals__`"),
        ("f(globals())", "uses `globals()`"),
        ("importlib.reload(f)", "reloads a module"),
        ("f(sys._getframe())", "inspects functions or frames"),
        ("os.chdir('x'); f(1)", "changes the working directory"),
        ("import pickle; assert pickle.loads(f(1)) == 1", "loads code from data"),
        ("assert eval(f(1)) == 1", "runs text as code"),
        ("with case.assertLogs(): f(1)", "captures logs"),
        ("with warnings.catch_warnings(record=True) as w: f(1)", "captures warnings"),
        ("warnings.simplefilter('error'); f(1)", "turns warnings into errors"),
        ("decimal.getcontext().prec = 5; f(1)", "uses decimal's context"),
        ("sys.setrecursionlimit(9999); f(1)", "sets the recursion limit"),
        ("signal.alarm(1); f(1)", "sets a signal handler or timer"),
        ("threading.Thread(target=f).start()", "starts threads or processes"),
        ("os.system('true')", "starts a program"),
        ("f(1); plt.gcf().axes", "uses pyplot's current figure"),
    ],
)
def test_a_check_that_reaches_into_the_completions_process_is_run_there(statement: str, what: str) -> None:
    test = source(IMPORTS) + f"def test_it():\n    assert f(0)\n    {statement}\n"
    line = len(test.split("\n")) - 1
    assert plan_suite(task(test)).one_process == f"the test {what} (line {line})"


@pytest.mark.parametrize(
    "statement",
    [
        "assert f('patch the globals() of sys.modules') == 'monkeypatch'",
        "patched = {'patch': 1}; assert f(patched['patch'])",
        "m = Mock(); m.send = MagicMock(); assert f(m)",
        "with patch('requests.get') as get: f(1)",
        "with patch('builtins.print') as p: f(1)",
        "with patch.dict(os.environ, HOME='x'): f(1)",
        "os.environ['HOME'] = 'x'; f(1)",
        "obj = Base(); obj.send = MagicMock(); obj.run()",
        "obj = Base(); obj.size = [1]; assert obj.run()",
        "assert isinstance(f(1), Base)",
        "input = [1, 2]; assert f(input)",
        "def input(): return 1\n    assert f(input)",
        "assert f(builtins.int('1'))",
        "sys.stdout = io.StringIO(); f(1); assert sys.stdout.getvalue()",
        "with redirect_stdout(buffer): f(1)",
        "with patch('sys.stdout', new_callable=io.StringIO) as out: f(1)",
        "with patch.object(sys, 'stdout', io.StringIO()): f(1)",
        "warnings.simplefilter('ignore'); assert f(1)",
        "with warnings.catch_warnings(): assert f(1)",
        "plt.close('all'); assert f(1)",
        "case.maxDiff = None; assert f(1)",
        "class Mine(Exception): pass\n    assert f(Mine())",
    ],
)
def test_a_check_that_only_seems_to_do_so_is_split(statement: str) -> None:
    assert plan_suite(task(source(IMPORTS) + f"def test_it():\n    {statement}\n")).one_process is None


@pytest.mark.parametrize("value", ["lambda: '1'", "iter(['1']).__next__", "Mock(return_value='1')", "answer"])
def test_a_module_that_replaces_input_is_run_in_the_completions_process(value: str) -> None:
    before = "from unittest.mock import Mock\ndef answer(): return 1\n"
    assert (
        plan_suite(task(f"{before}input = {value}\nassert f() == 1")).one_process
        == "the test replaces `input` (line 3)"
    )
    assert plan_suite(task("input = [1]\nassert f(input) == 1")).one_process is None


def test_one_method_decides_for_the_whole_suite_and_the_first_line_is_named() -> None:
    plan = suite(
        """
        def test_a(self):
            self.assertEqual(f(1), 1)
        def test_b(self):
            f(2)
            f.x = 1
            f(sys.modules)
        """,
        before="import sys, unittest",
    )
    assert plan.one_process == "the test sets an attribute of `f` (line 7)"
    assert len(plan.cases) == 2


def test_objects_of_the_tests_own_classes_are_passed_in_one_process() -> None:
    before = "class Node:\n    def __init__(self, x): self.x = x\nclass Oracle:\n    def solve(self, x): return x\n"
    given = plan_suite(task(before + "def test_it():\n    assert f(Node(1)) == 1\n")).one_process
    assert given == "the test may pass objects of its own class `Node` to the completion (line 1)"
    kept = before + "def test_it():\n    assert f(1) == Oracle().solve(1)\n"
    assert plan_suite(task(kept)).one_process is None
    tuples = "from typing import NamedTuple\nclass Node(NamedTuple):\n    x: int\n"
    assert plan_suite(task(tuples + "def test_it():\n    assert f(Node(1)) == 1\n")).one_process is None


@pytest.mark.parametrize(
    ("bases", "base"), [("set", "set"), ("typing.NamedTuple", "NamedTuple"), ("Base, Flag", "Flag")]
)
def test_a_class_that_is_derived_from_data_is_tested_there(bases: str, base: str) -> None:
    asked = task("def test_it():\n    assert Tags('a') == f(1)\n")
    asked.prompt = f"class Tags({bases}): tags in small letters."
    assert plan_suite(asked).one_process == f"the task asks for `Tags`, a class derived from {base}"
    asked.prompt = "class Tags(Base): tags in small letters. class Others(set): not tested."
    assert plan_suite(asked).one_process is None
