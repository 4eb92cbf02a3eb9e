"""Completions that leave before the check has come to its end, and such as raise what a test would pass over."""

from tests.graders.split_attacks import Attack, attacks, family

# fmt: off
ATTACKS: list[Attack] = [
    *attacks(r"""
=== leaves-in-the-call: equal
--- after-the-first
import os
def f(x):
    if x != 2: os._exit(0)
    return 4
=== leaves-after-the-call: equal
--- del
import os
class Last:
    def __del__(self): os._exit(0)
def f(x): return Last()
=== leaves-late: items
--- generator
import os
def f(n):
    yield 0
    os._exit(0)
=== raised: suite
--- named-as-skip-test
def f(x): raise type('SkipTest', (Exception,), {'__module__': 'unittest.case'})
=== expected: raises
--- by-name
def f(x):
    if x == 4: return 2.0
    raise type('ValueError', (Exception,), {'__module__': 'builtins'})('negative')
--- by-class
class Lie(Exception):
    __class__ = property(lambda self: ValueError)
def f(x):
    if x == 4: return 2.0
    raise Lie('negative')
=== forgiven: forgiving
--- os-exit
import os
def f(x):
    if x is None: os._exit(0)
    return x + x
--- own-base
class Own(BaseException): pass
def f(x):
    if x is None: raise Own
    return x + x
=== forgiven: forgiving: endless
--- too-long
def f(x):
    while x is None: pass
    return x + x
--- too-much
def f(x):
    held = []
    while x is None: held.append(bytearray(1 << 24))
    return x + x
=== endless: items: endless
--- generator
def f(n):
    while True: yield 0
--- iterator-of-itself
class Items:
    def __iter__(self): return self
    def __next__(self): return self
def f(n): return Items()
"""),
    *family("leaves-at-import", "equal", {
        "sys-exit": "import sys\ndef f(x): return 0\nsys.exit(0)",
        "os-exit": "import os\ndef f(x): return 0\nos._exit(0)",
        "exec": "import os\ndef f(x): return 0\nos.execv('/bin/true', ['true'])",
    }),
    *family("leaves-in-the-call", "equal", {
        "sys-exit": "import sys\ndef f(x): sys.exit(0)",
        "os-exit": "import os\ndef f(x): os._exit(0)",
    }),
    *family("leaves-after-the-call", "equal", {
        "atexit": "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): return 0",
    }),
    *family("passed-over", "suite", {
        "should-stop": "from unittest.case import _ShouldStop\ndef f(x): raise _ShouldStop",
    }),
    *family("raised", "suite", {
        "assertion-error": "def f(x): raise AssertionError",
        "keyboard-interrupt": "def f(x): raise KeyboardInterrupt",
        "recursion": "def f(x): return f(x)",
        "signal": "import os\ndef f(x): os.kill(os.getpid(), 9)",
    }),
    *family("stops-where-caught", "all of a map that catches", {"stop-iteration": "def f(x): raise StopIteration"}),
    *family("expected", "raises", {"always": "def f(x): raise ValueError('negative')"}),
]
