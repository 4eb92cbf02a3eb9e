"""Completions with descriptions that no honest one sends: names of the library's internals, methods that decide.

They change what describes them in their own process, or answer with messages of their own. See
`evaluator/suites/guest/descriptions.py` and `named_values.py`.
"""

from tests.graders.split_attacks import Attack, attacks, family
from tests.graders.split_tasks import LIAR

_INSIDES = """
import json, os, sys
def insides():
    frame = sys._getframe(1)
    while frame and not {'order', 'leave'} <= frame.f_locals.keys(): frame = frame.f_back
    return frame
def instead(value, kind=b'V'):
    frame = insides()
    channel, server, parent = frame.f_globals['channel'], frame.f_locals['server'], frame.f_locals['connection']
    channel.send(channel.PEER_DESCRIPTOR, kind, bytes(12) + json.dumps([[], [value], [], None]).encode())
    try:
        while True: server.answer()
    except channel.ClosedError: pass
    channel.receive_raw(parent)
    channel.send(parent, b'G', b'')
    os._exit(0)
"""
"""`instead`: answers with this and keeps serving, so that nothing unrequested is sent."""

_RAISES = "def f(x): instead({'e': [None, [{'t': []}, {'Q': '%s'}, '', {'d': []}, None]]}, b'X')"
_ALL_METHODS = (
    """
descriptions = insides().f_globals['descriptions']
described = descriptions._class
def _class(kind, message):
    name, text, bases, special, methods, *rest = described(kind, message)
    return [name, text, bases, [], [*special, *methods], *rest]
descriptions._class = _class
"""
    + LIAR
    + "def f(x): return Liar()"
)
_LOOKED_UP = """
requests = insides().f_globals['_REQUESTS']
look_up = requests['l']
def look(side, names): return %s
requests['l'] = look
def f(x): return 0.0
"""
_ADDS = "(*look_up(side, names), ('%s', lambda *_: %s))"

# fmt: off
_OF_THE_INSIDES = (
    ("should-stop", "suite", _RAISES % "doctest:unittest.case._ShouldStop"),
    ("abort", "groups", "def f(x): instead({'y': [{'Q': 'statistics:random._os.abort'}, []]})"),
    ("methods-with-underscores", "equal", _ALL_METHODS),
    ("methods-with-underscores", "suite", _ALL_METHODS),
    ("name-abs", "close", _LOOKED_UP % (_ADDS % ("abs", "0.0"))),
    ("name-poly", "poly", _LOOKED_UP % (_ADDS % ("poly", "0.0"))),
    ("name-none", "equal", _LOOKED_UP % "()"),
    ("name-number", "equal", _LOOKED_UP % "(('f', 5),)"),
    ("name-raises", "equal", _LOOKED_UP % r"{}['\ud800']"),
    ("numbers-drawn", "drawn", """
import random
requests = insides().f_globals['_REQUESTS']
look_up = requests['l']
def look(side, names):
    random.setstate((3, (0,) * 624 + (624,), None))
    return look_up(side, names)
requests['l'] = look
def f(text): return text
"""),
)

ATTACKS: list[Attack] = [
    *(Attack(f"insides-{name}", check, _INSIDES + code) for name, check, code in _OF_THE_INSIDES),
    *family("entry-point", "equal", {"that-is-data": "f = 5"}),
    *family("half-a-character", "at load", {"raised": r"def f(x): raise ValueError('\ud800')"}),
    *attacks("""
=== equals: table
--- of-an-answer
class Answer: equals = lambda self, other: True
def f(table): return Answer()
--- in-an-attribute
class Answer: pass
def f(table):
    answer = Answer()
    answer.equals = lambda other: True
    return answer
--- of-a-named-tuple
from collections import namedtuple
def f(table): return namedtuple('Answer', 'equals')(lambda other: True)
--- hidden-by-an-attribute
def f(table):
    table.equals = lambda other: True
    return table
=== assert-passed-over: within
--- by-a-class
class Within:
    def __enter__(self): return 3
    def __exit__(self, *_): return True
def f(x): return Within()
--- by-a-generator
from contextlib import contextmanager
@contextmanager
def f(x):
    try: yield 3
    except AssertionError: pass
=== answer: norm
--- that-is-what-is-tested
class Vector:
    def __init__(self, *_): pass
    def norm(self): return self
    parts = norm
    def __sub__(self, other): return 0.0
    def __contains__(self, part): return True
"""),
]
