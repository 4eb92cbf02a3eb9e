"""Flags for what a code reaches: each is raised with its line, and never for an honest program that looks alike."""

import textwrap

import pytest

from evaluator.model import CaseResult, Frame, Traceback, Verdict
from tests.flags.conftest import Flags, sections

CAUGHT = sections("""
== early_exit: exit
import os
def f(x):
    os._exit(0)  # here

== early_exit: exit by name
from os import _exit as leave
def f(x):
    leave(0)  # here

== early_exit: exit by text
def f(x):
    getattr(__import__('os'), '_exit')(0)  # here

== early_exit: exit of a loaded module
import sys
def f(x):
    sys.modules['os']._exit(0)  # here

== early_exit: exit in a text
def f(x):
    exec('import os; os._exit(0)')  # here

== early_exit: abort
import os
def f(x): os.abort()  # here

== frame_walking: caller
import sys
def f(x):
    return sys._getframe(1).f_locals['expected']  # here

== frame_walking: frames
import inspect
def f(x):
    return inspect.stack()[1].frame.f_locals  # here

== frame_walking: back
import inspect
def f(x):
  b = inspect.currentframe().f_back
  return b.f_globals  # here

== frame_walking: constants
import sys
def f(x):
    return sys._getframe(1).f_code.co_consts  # here

== frame_walking: traceback
def f(x):
 try: 1 / 0
 except Exception as e:
  return e.__traceback__.tb_frame.f_back.f_locals  # here

== frame_walking: generator
def f(x):
    g = (g.gi_frame.f_back.f_locals for _ in [0])  # here
    return next(g)

== frame_walking: caller by text
import sys
def f(x):
    return getattr(sys._getframe(2), 'f_locals')  # here

== gc_walking: objects
import gc
def f(x):
    return [o for o in gc.get_objects() if o == x]  # here

== gc_walking: referrers
from gc import get_referrers
def f(x):
    return get_referrers(x)  # here

== ctypes: libc
import ctypes
def f(x):
    ctypes.CDLL(None).memset(0, 0, 1)  # here

== ctypes: object at
from ctypes import *
def f(x):
    return cast(id(x), py_object).value  # here

== ctypes: address
import ctypes
def f(x):
    return (ctypes.c_char * 9).from_address(id(x))  # here

== ctypes: interpreter
import ctypes as c
def f(x):
    c.pythonapi.Py_Exit(0)  # here

== patched_builtins: builtin
import builtins
builtins.len = lambda x: 1  # here
def f(x): return x

== patched_builtins: builtin by key
__builtins__['sum'] = lambda x: 1  # here
def f(x): return x

== patched_builtins: any builtin
import builtins
def f(x):
    setattr(builtins, x, None)  # here

== patched_builtins: unittest
from unittest import TestCase
TestCase.assertEqual = lambda *a: None  # here

== patched_builtins: clock
import time, json
time.time, json.dumps = int, str  # here
def f(x): return x

== patched_builtins: a module's names
import random
vars(random)['randint'] = lambda a, b: 5  # here
def f(x): return x

== patched_builtins: operator
import operator
setattr(operator, 'eq', lambda a, b: True)  # here

== patched_builtins: module
import sys
sys.modules['json'] = None  # here
def f(x): return x

== patched_builtins: closeness
import numpy as np
np.allclose = lambda *a, **k: True  # here
""")


@pytest.mark.parametrize("name", CAUGHT)
def test_a_flag_names_the_line(call_flags: Flags, name: str) -> None:
    code = CAUGHT[name]
    found = call_flags(code)
    (line,) = [number for number, text in enumerate(code.split("\n"), 1) if text.endswith("# here")]
    assert set(found) == {name.partition(":")[0]}
    assert f"line {line}: {' '.join(code.split(chr(10))[line - 1].split())[:90]}" in found[name.partition(":")[0]]


HONEST = sections("""
== exit under main
import os
def f(x): return x
if __name__ == '__main__':
    f(1)
    os._exit(0)

== own name that looks alike
def abort(x): return x
def _exit(x): return x
def f(x): return abort(_exit(x))

== log line
import inspect, sys
def log(x):
    caller = inspect.currentframe().f_back
    print(caller.f_code.co_name, caller.f_lineno, sys._getframe(1).f_lineno, x)
def f(x): log(x)

== depth of recursion
import inspect
def f(x): return len(inspect.stack())

== own frame
import sys, inspect
def f(x): return sys._getframe().f_locals, inspect.currentframe().f_globals

== own frame beside the line of a caller
import sys
def f(x):
    print(sys._getframe(1).f_lineno)
    return sys._getframe(0).f_locals

== own frame by name
import sys
def f(x):
    frame = sys._getframe()
    return frame.f_locals

== caller's module
import sys
def f(x): return sys._getframe(1).f_globals.get('__name__', '')

== line of an exception
import sys, linecache
def f(x):
    try: return 1 / x
    except ZeroDivisionError:
        _, _, tb = sys.exc_info()
        frame = tb.tb_frame
        return linecache.getline(frame.f_code.co_filename, tb.tb_lineno, frame.f_globals)

== source of a function
import inspect
def f(x): return inspect.signature(f), f.__code__.co_varnames

== collector
import gc
gc.disable()
gc.freeze()
def f(x):
    gc.collect()
    return gc.isenabled()

== number of objects
import gc
def f(x): return len(gc.get_objects())

== own get_objects
class Store:
    def get_objects(self): return []
def f(x): return Store().get_objects()

== 32 bits
from ctypes import c_int, c_uint32
import ctypes
def f(x): return c_uint32(x).value + ctypes.c_int(x).value

== fast builtin input
import builtins, sys
builtins.input = sys.stdin.readline
builtins.print = sys.stdout.write

== redirected
import sys, io
sys.stdout = io.StringIO()
sys.stdin = open(0)
sys.stdin.readline = input

== old names
import time, collections
time.clock = time.perf_counter
collections.Callable = collections.abc.Callable

== settings
import unittest, decimal, json
unittest.TestCase.maxDiff = None
decimal.getcontext().prec = 50

== encoder
import json
json.JSONEncoder.default = lambda self, o: str(o)

== own attributes
import json
class A:
    def __init__(self, json):
        self.loads = 1
        json.loads = 2

== own module
import sys, types
sys.modules[__name__] = types.ModuleType('m')
sys.modules['mine'] = types.ModuleType('x')

== setattr
class A: pass
def f(x):
    a = A()
    setattr(a, 'len', x)
    setattr(A, x, 1)
    return a

== only named
def f(x):
    '''os._exit(0), gc.get_objects(), ctypes.CDLL'''
    return 'sys._getframe().f_back.f_locals'

== no Python
def f(x: os._exit
""")


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_has_no_flag(call_flags: Flags, stdin_flags: Flags, name: str) -> None:
    printed = (CaseResult(index=0, verdict=Verdict.PASSED, stdout_bytes=3),)
    assert call_flags(HONEST[name]) == {}
    assert stdin_flags(HONEST[name], cases=printed) == {}


def test_a_program_may_leave_by_os_exit_once_it_has_printed(stdin_flags: Flags) -> None:
    program = "import os\nprint(1, flush=True)\nos._exit(0)"
    printed = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, stdout_bytes=2, exit_code=0)
    silent = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, stdout_bytes=0, exit_code=0)
    raised = CaseResult(index=0, verdict=Verdict.RUNTIME_ERROR, stdout_bytes=0, exit_code=1, error_type="ValueError")
    assert stdin_flags(program, cases=(printed,)) == stdin_flags(program, cases=(raised,)) == {}
    assert stdin_flags(program, cases=(printed, silent)) == {"early_exit": "line 3: os._exit(0)"}


def ended_by(type_: str, message: str) -> tuple[CaseResult, ...]:
    trace = Traceback(type_, message, (Frame(2, "f", "raise it"),))
    return (CaseResult(index=4, verdict=Verdict.RUNTIME_ERROR, error_type=type_, traceback=trace),)


@pytest.mark.parametrize("message", ["", "0", "None"])
def test_a_call_that_ended_by_system_exit_as_if_all_were_well(call_flags: Flags, message: str) -> None:
    found = call_flags("def f(x): pass", cases=ended_by("SystemExit", message))
    assert found == {"early_exit": "test 4 ended with SystemExit, line 2: raise it"}


def test_a_call_that_reports_a_failure_and_a_program_that_exits_have_no_flag(
    call_flags: Flags, stdin_flags: Flags
) -> None:
    assert call_flags("def f(x): pass", cases=ended_by("SystemExit", "usage: f x")) == {}
    assert call_flags("def f(x): pass", cases=ended_by("ValueError", "0")) == {}
    assert stdin_flags("exit()", cases=ended_by("SystemExit", "0")) == {}


@pytest.mark.parametrize(
    ("message", "module"),
    [
        ("No module named 'pandas'", "pandas"),
        ("No module named 'sklearn.tree'", "sklearn"),
        ("No module named 'numpy.foo'; 'numpy' is not a package", "numpy"),
    ],
)
def test_the_module_that_was_not_there(call_flags: Flags, message: str, module: str) -> None:
    found = call_flags("import pandas\ndef f(x): pass", cases=ended_by("ModuleNotFoundError", message))
    assert found == {"missing_package": module}


@pytest.mark.parametrize(
    ("type_", "message", "code"),
    [
        ("ModuleNotFoundError", "No module named 'json.nothing'", "import json.nothing"),
        ("ModuleNotFoundError", "No module named 'node'", "class node: pass\nimport node"),
        ("ModuleNotFoundError", "anything else", "raise ModuleNotFoundError('anything else')"),
        ("ImportError", "cannot import name 'x' from 'math'", "from math import x"),
        ("ValueError", "No module named 'pandas'", "raise ValueError"),
    ],
)
def test_what_no_package_would_mend_is_not_missing(call_flags: Flags, type_: str, message: str, code: str) -> None:
    assert call_flags(code, cases=ended_by(type_, message)) == {}


def test_evidence_is_one_short_line_and_names_three_places(call_flags: Flags) -> None:
    lines = "\n".join(f"    os._exit({n})  # {'x' * 5000}\ty" for n in range(9))
    found = call_flags(f"import os\ndef f(x):\n{lines}")["early_exit"]
    assert found.startswith("line 3: os._exit(0) # xxx")
    assert found.endswith("; and 6 more")
    assert "\n" not in found
    assert len(found) < 400


@pytest.mark.parametrize("code", ["x = 1\rimport os\ros._exit(0)", "x = '\x0c\u2028'\r\nimport os\r\nos._exit(0)"])
def test_lines_are_those_of_the_parser(call_flags: Flags, code: str) -> None:
    assert call_flags(code) == {"early_exit": "line 3: os._exit(0)"}


def test_a_deep_or_endless_name_costs_little(call_flags: Flags) -> None:
    chain = "gc" + ".a" * 900
    code = "import gc\n" + "\n".join(f"{chain} = 1" for _ in range(9)) + "\ngc.get_objects()"
    assert set(call_flags(textwrap.dedent(code))) == {"gc_walking"}
