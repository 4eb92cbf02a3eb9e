"""A stdin program leaves nothing for its next run in the same process, or the next run gets another process."""

import importlib

import pytest

from evaluator.sandbox import Program, Sandbox
from evaluator.sandbox.guest import header, reusable
from evaluator.sandbox.host.program import header_of
from tests.sandbox.conftest import PATIENT
from tests.sandbox.headers import HEADER
from tests.sandbox.programs_that_leave_something import PUT_RIGHT, SEEN

WORDS = ["ONE", "TWO", "SIX"]


@pytest.mark.parametrize("name", PUT_RIGHT | SEEN)
def test_every_run_is_like_the_first(namespaces: Sandbox, name: str) -> None:
    outcomes, begun = [], []
    with namespaces.execute(Program((PUT_RIGHT | SEEN)[name]), PATIENT) as execution:
        for word in WORDS:
            outcomes.append(execution.run(f"{word}\n".encode(), wall_s=30))
            begun.append(execution.begun)
    told = [(outcome.status, outcome.exit_status, outcome.stdout.text()) for outcome in outcomes]
    status, exit_status, text = told[0]
    assert "ONE" in text
    assert told == [(status, exit_status, text.replace("ONE", word)) for word in WORDS]
    assert all(begun) is (name in PUT_RIGHT)


def examined(source: str, preamble: str = "") -> reusable.Reusable | str:
    steps = header_of(preamble)
    assert steps is not None
    return reusable.examine(compile(source, "main.py", "exec", dont_inherit=True), list(steps))


@pytest.fixture(scope="module", autouse=True)
def as_in_a_zygote() -> None:
    """What it records once of its modules."""
    for name in reusable.HARMLESS - {"readline"}:
        importlib.import_module(name)
    reusable.keep()
    header.keep({*reusable.HARMLESS, "builtins"})


OF_A_GLOBAL = "it sets an attribute of a global object"
MANY_NAMES = "; ".join(f"n{number} = 0" for number in range(300))
NOT_REUSABLE = [
    ("import atexit\natexit.register(print, 1)", "it uses register"),
    ("print.__self__.len = len", "it uses __self__"),
    ("match print:\n    case object(__self__=functions):\n        functions.len = len", "it uses __self__"),
    ("import builtins\nbuiltins.len = len", "it uses the module builtins"),
    ("globals()['__builtins__'].__dict__['sorted'] = list", "it uses __dict__"),
    ("import math\nmath.sqrt = print", OF_A_GLOBAL),
    ("import math\ndel math.sqrt", OF_A_GLOBAL),
    (f"import math, heapq\n{MANY_NAMES}\nfrom heapq import merge\nmerge.mark = 1", OF_A_GLOBAL),
    ("def f():\n    global Counter\n    from collections import Counter\n    Counter.seen = 1", OF_A_GLOBAL),
    ("import random\nsetattr(random, 'randint', print)", "it uses setattr"),
    ("import random\nrandom._inst = None", "it uses _inst"),
    ("import os\nos.chdir('sub')", "it uses chdir"),
    ("import os\nos.environ['MARK'] = '1'", "it uses environ"),
    ("import os\nos.umask(0o077)", "it uses umask"),
    ("import os\nos.close(1)", "it uses close"),
    ("import os\nos.dup(1)", "it uses dup"),
    ("import sys\nsys.settrace(None)", "it uses settrace"),
    ("import sys\nsys.modules['mine'] = 1", "it uses modules"),
    ("import decimal\ndecimal.DefaultContext.prec = 3", "it uses DefaultContext"),
    ("import re\nre._cache[1] = re.compile('nothing')", "it uses compile"),
    ("import time\ntime.process_time()", "it uses process_time"),
    ("class Speaker:\n    def __del__(self): print('died')\nSpeaker()", "it uses __del__"),
    ("import _thread\n_thread.start_new_thread(print, ())", "it uses _thread"),
    ("import signal\nsignal.alarm(60)", "it uses the module signal"),
    ("import warnings\nwarnings.simplefilter('error')", "it uses the module warnings"),
    ("import locale\nlocale.setlocale(locale.LC_NUMERIC, 'C')", "it uses the module locale"),
    ("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))", "it uses the module resource"),
    ("import gc\ngc.disable()", "it uses the module gc"),
    ("import keyword\nkeyword.kwlist.append('x')", "it uses the module keyword"),
    ("import json\njson.encoder.INFINITY = 5", "it uses the module encoder"),
    ("import random\nrandom._os.sep = 'x'", "it uses the module _os"),
    ("import json.decoder as d\nprint(d.scanstring)", "it uses the module decoder"),
]


@pytest.mark.parametrize(("source", "reason"), NOT_REUSABLE, ids=[row[0] for row in NOT_REUSABLE])
def test_a_program_that_may_leave_more_is_not_reusable(source: str, reason: str) -> None:
    assert examined(source) == reason


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("print(stdin.read())\nstdin.close()", "it uses close"),
        ("modules['mine'] = 1", "it uses modules"),
        ("math.pi = 3", OF_A_GLOBAL),
        ("string.__dict__['mine'] = 1", "it uses __dict__"),
    ],
)
def test_nor_is_one_that_reaches_it_through_a_header(source: str, reason: str) -> None:
    assert examined(source, HEADER) == reason
    assert "uses" in examined("globals()['math'].pi = 3", HEADER)
