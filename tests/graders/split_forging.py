"""Completions that speak to the process of the check themselves, in frames and messages of its protocol.

A frame is four bytes of length, one of kind, the payload; an answer's payload has a report's length and a message, the
message is `[changes, [value], bodies, extras]`. See `evaluator/suites/guest/exchange.py`.
"""

from tests.graders.split_attacks import Attack, attacks, family

_FRAMES = r"""
import json, os, stat
def is_socket(descriptor):
    try: return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError: return False
SOCKETS = [descriptor for descriptor in range(64) if is_socket(descriptor)]
def frame(kind, payload=b''): return (len(payload) + 1).to_bytes(4, 'big') + kind + payload
def message(value, changes=(), bodies=(), extras=None):
    return json.dumps([list(changes), [value], list(bodies), extras]).encode()
def answer(text, kind=b'V'): return frame(kind, bytes(12) + text)
def asks(*request): return frame(b'Q', json.dumps([[], list(request), [], None]).encode())
def say(*frames, to=None):
    data = b''.join(frames)
    while data: data = data[os.write(SOCKETS[-1] if to is None else to, data):]
def tell(*frames): say(*frames, to=SOCKETS[0])
PASSED = json.dumps({'status': 'passed', 'type': '', 'message': '', 'line': 0, 'failure': None, 'op': '',
                     'actual': None, 'expected': None, 'source': '', 'setup': False, 'asserts': 3}).encode()
"""
"""`say`: to the process of the check, which is spoken to in messages; `tell`: to the parent."""

_KINDS = {
    "passed": "def f(x): say(frame(b'D', PASSED))",
    "passed-and-gone": "def f(x):\n    say(frame(b'D', PASSED))\n    os._exit(0)",
    "passed-at-import": "say(frame(b'D', PASSED) * 3)\ndef f(x): return 0",
    "passed-as-an-answer": "def f(x): say(answer(PASSED))",
    "loaded-twice": "say(frame(b'L') * 2)\ndef f(x): return 0",
    "farewell": "def f(x): say(frame(b'G') * 2)",
    "request-of-the-parent": "def f(x): say(frame(b'R', b'0'))",
    "gives-up": "def f(x): say(frame(b'U', b'the test makes a subclass'))",
    "gives-up-at-import": "say(frame(b'U', b'the test makes a subclass'))\ndef f(x): return 0",
    "fault": "def f(x): say(frame(b'!'))",
    "end": 'def f(x): say(frame(b\'E\', b\'{"exit_status": 0, "memory_kib": 0, "cpu_s": 0}\'))',
    "every-kind": "def f(x): say(*(frame(bytes([kind]), PASSED) for kind in range(256)))",
    "every-kind-at-import": "say(*(frame(bytes([kind]), PASSED) for kind in range(256)))\ndef f(x): return 0",
    "on-every-descriptor": """
def f(x):
    for descriptor in range(3, 65):
        try: os.write(descriptor, frame(b'D', PASSED) + answer(PASSED))
        except OSError: pass
""",
}
_REPORTED = {name: code.replace("say(", "tell(") for name, code in _KINDS.items() if name != "on-every-descriptor"}
_BROKEN = {
    "huge": "def f(x): say((1 << 31).to_bytes(4, 'big') + b'V')",
    "empty": "def f(x): say(bytes(4))",
    "cut": "def f(x):\n    say(answer(message(4))[:-3])\n    os._exit(0)",
    "no-message": "def f(x): say(answer(b''))",
    "no-json": "def f(x): say(answer(b'passed'))",
    "no-report": "def f(x): say(frame(b'V', message(4)))",
    "long-report": r"def f(x): say(frame(b'V', bytes(8) + b'\xff' * 4 + message(4)))",
    "report-that-is-none": r"def f(x): say(frame(b'X', bytes(8) + bytes([0, 0, 0, 4]) + b'null' + message(4)))",
    "no-parts": "def f(x): say(answer(b'[]'))",
    "another-alphabet": "def f(x): say(answer(message(4).decode().encode('utf-16')))",
    "exception-that-is-none": "def f(x): say(answer(message(4), b'X'))",
    "exception-of-no-class": "def f(x): say(answer(message({'e': [0, [1, 2, 3, 4]]}), b'X'))",
    "two-answers": "def f(x): say(answer(message(0)), answer(message(0)))",
    "answers-nobody-asked-for": "say(*map(answer, map(message, (4, 42, -14))))\ndef f(x): return 0",
}
_OBJECTS = {
    "number-out-of-range": "def f(x): say(answer(message({'r': 999})))",
    "number-below-zero": "def f(x): say(answer(message({'r': -1})))",
    "number-that-is-none": "def f(x): say(answer(message({'r': 'x'})))",
    "change-of-nothing": "def f(x): say(answer(message(4, changes=[[7, [1]]])))",
    "change-below-zero": "def f(x): say(answer(message(4, changes=[[-1, [1]]])))",
    "handle-never-given": "def f(x): say(answer(message({'H': 0})))",
    "handle-below-zero": "def f(x): say(answer(message({'H': -1})))",
    "handle-of-a-text": "def f(x): say(answer(message({'H': 'check'})))",
    "class-of-no-name": "def f(x): say(answer(message({'K': 'TestCase'})))",
    "object-of-no-class": "def f(x): say(answer(message({'D': 'Node'}, bodies=[[]])))",
    "object-without-fields": "def f(x): say(answer(message({'D': 'Node'})))",
    "fields-without-object": "def f(x): say(answer(message(4, bodies=[[1, 2], [3, 4]])))",
    "unknown-tag": "def f(x): say(answer(message({'?': 4})))",
    "two-tags": "def f(x): say(answer(message({'t': [], 'd': []})))",
    "drop-of-nothing": "def f(x): say(answer(message(4, extras={'d': [7]})))",
    "drop-of-a-text": "def f(x): say(answer(message(4, extras={'d': 'x'})))",
    "drop-of-a-list": "def f(x): say(answer(message(4, extras={'d': [[0]]})))",
    "drop-twice": "def f(x): say(answer(message([], extras={'d': [0, 0]})))",
    "extras-of-no-name": "def f(x): say(answer(message(4, extras={'x': []})))",
    "extras-of-no-kind": "def f(x): say(answer(message(4, extras=[1])))",
    "class-that-is-everything": """
def f(x):
    kind = ['int', None, [{'Q': 'builtins:int'}], ['__eq__'], [], False, {'d': []}]
    say(answer(message({'h': [1, 'object', [{'h': [2, 'class', kind]}, None]]})))
""",
    "class-of-any": "def f(x): say(answer(message({'Q': 'unittest.mock:_ANY'})))",
    "function-of-another-module": "def f(x): say(answer(message({'Q': 'os:_exit'})))",
    "module-that-is-run": "def f(x): say(answer(message({'Q': 'antigravity:geohash'})))",
    "eval": "def f(x): say(answer(message({'Q': 'builtins:eval'})))",
    "named-tuple-with-an-odd-name": "def f(x): say(answer(message({'N': ['int', ['__eq__'], [4]]})))",
    "default-that-is-called": "def f(x): say(answer(message({'y': [{'Q': 'builtins:breakpoint'}, []]})))",
    "array-of-addresses": "def f(x): say(answer(message({'np': ['|O', [1], 'AAAAAAAAAAA=']})))",
    "array-of-other-size": "def f(x): say(answer(message({'np': ['<f8', [10 ** 12], '']})))",
    "scalar-of-no-kind": "def f(x): say(answer(message({'ns': ['|O', 'AAAAAAAAAAA=']})))",
}
_LARGE = {
    "deep": "def f(x): say(answer(b'[[], [' + b'[' * 100_000 + b']' * 100_000 + b'], [], null]'))",
    "deep-tags": """def f(x): say(answer(b'[[], [' + b'{"t": [' * 5_000 + b']}' * 5_000 + b'], [], null]'))""",
    "many-digits": "def f(x): say(answer(b'[[], [' + b'9' * 3_000_000 + b'], [], null]'))",
    "many-hex-digits": "def f(x): say(answer(message({'i': 'f' * 3_000_000})))",
    "half-a-million-lists": "def f(x): say(answer(message([[] for _ in range(500_000)])))",
    "text": "def f(x): say(answer(message('x' * 30_000_000)))",
    "output": "def f(x): say(answer(message(4, extras={'o': 'x' * 3_000_000})))",
    "notes": "def f(x): say(answer(message(0, extras={'u': ['x' * 3_000_000]})))",
}
_COLLIDING = {
    "set": "def f(x): say(answer(message({'S': [n * (2 ** 61 - 1) for n in range(40_000)]})))",
    "dict": "def f(x): say(answer(message({'d': [part for n in range(40_000) for part in (n * (2 ** 61 - 1), 0)]})))",
}
_SLOW = {
    "set-of-its-own": "def f(x): return {n * (2 ** 61 - 1) for n in range(100_000)}",
    "range": "def f(x): return range(10 ** 12)",
}
_CALLS = {
    "out-of-place": "def f(x): say(asks('c', 0, {'t': []}))",
    "at-import": "say(asks('c', 0, {'t': []}))\ndef f(x): return 0",
    "never-given": "def f(x): say(asks('c', 17, {'t': [1]}))",
    "below-zero": "def f(x): say(asks('c', -1, {'t': [1]}))",
    "of-a-text": "def f(x): say(asks('c', 'check', {'t': [1]}))",
    "unknown-kind": "def f(x): say(asks('a', 0, '__globals__'))",
    "unknown-word": "def f(x): say(asks('?', 0))",
    "no-words": "def f(x): say(asks())",
    "next-of-a-number": "def f(x): say(asks('n', 3))",
}
_ASKING = {
    "attribute-of-a-function": "def f(function, items): say(asks('a', 0, '__globals__'))",
    "names-of-the-check": "def f(function, items): say(asks('l', ['expected', 'calls']))",
    "next-of-a-function": "def f(function, items): say(asks('n', 0))",
    "with-odd-keywords": "def f(function, items): say(asks('c', 0, {'t': []}, 1, 2))",
    "with-keywords-cut": "def f(function, items): say(asks('c', 0, {'t': []}, 'x'))",
    "with-no-arguments": "def f(function, items): say(asks('c', 0))",
    "every-number": "def f(function, items): say(*(asks('c', n, {'t': [2]}) for n in range(64)))",
}
_OF_MOCKS = {
    name: f"def f(folder):\n    import os\n    number = os.listdir._number\n    say(asks({request}))\n    return 2"
    for name, request in {
        "what-it-returns": "'a', number, 'return_value'",
        "its-side-effect": "'s', number, 'side_effect', None",
        "its-class": "'a', number, '__class__'",
        "its-insides": "'a', number, '_mock_parent'",
        "special-method-of-every-object": "'u', number, '__getattribute__', {'t': ['__dict__']}",
        "special-method-without-arguments": "'u', number, '__len__', 5",
        "name-that-is-none": "'a', number, 7",
        "nothing": "'a', number",
    }.items()
}
_CALLED_WITHOUT_END = attacks("""
=== endless-calls: function: endless
--- one-after-the-other
def f(function, items):
    while True: function(1)
=== endless-calls: function
--- one-in-the-other
def f(function, items):
    class Again(int):
        __rmul__ = __mul__ = lambda self, other: function(self)
    return [function(Again()) for _ in iter(int, 1)]
--- without-an-answer-read
frames = asks('c', 0, {'t': [1]}) * 1000
def f(function, items):
    while True: say(frames)
""")

_INTO_ITS_OWN_PROCESS = {
    "number-never-given": "asks('c', 17, {'t': [1]})",
    "arguments-of-no-kind": "asks('c', 0, 5)",
    "item-of-nothing": "asks('n', -1)",
    "value-that-is-none": "answer(message({'o': 'an object of class Liar'}))",
    "attributes-of-none": "answer(message({'h': [1, 'object', {'Q': 'threading:Lock'}]}))",
    "words-of-the-check": "frame(b'U', b'the test makes a subclass')",
}
"""What could have a check made in the completion's own process, where lies are believed."""
_BELIEVED = """
class Liar:
    __eq__ = lambda self, other: True
def f(x):
    if len(SOCKETS) > 1: say(SAID)
    return Liar()
"""
DOWNGRADES = [
    Attack(f"own-process-{name}", "equal", _FRAMES + f"SAID = {said}" + _BELIEVED)
    for name, said in _INTO_ITS_OWN_PROCESS.items()
]

ATTACKS: list[Attack] = [
    attack._replace(code=_FRAMES + attack.code)
    for attack in (
        *family("kinds", "equal", _KINDS),
        *family("told", "equal", _REPORTED),
        *family("broken", "equal", _BROKEN),
        *family("objects", "equal", _OBJECTS),
        *family("large", "equal", _LARGE),
        *family("calls", "equal", _CALLS),
        *family("asking", "function", _ASKING),
        *family("of-mocks", "mocked", _OF_MOCKS),
        *_CALLED_WITHOUT_END,
        *family("slow", "items", _COLLIDING),
        *family("slow", "items", _SLOW, endless=True),
    )
]
