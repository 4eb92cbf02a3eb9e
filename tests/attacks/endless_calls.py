"""Programs that let others go on for them: a call into C, a wait, whoever looks at their answer or their output."""

from tests.attacks.corpus import Attack
from tests.attacks.endless import SPIN, endless

# fmt: off
_C_CALLS = [
    endless("huge-power", "call into C", """
def f(x):
    while True:
        try: 7 ** (10 ** 8 + x)
        except BaseException: pass
"""),
    endless("pattern-that-backtracks", "call into C", """
import re
def f(x):
    while True:
        try: re.match("(a|a|aa)+$", "a" * 90 + "b")
        except BaseException: pass
"""),
    endless("digits-of-a-huge-int", "call into C", """
import sys
def f(x):
    sys.set_int_max_str_digits(0)
    while True:
        try: str(1 << 30_000_000)
        except BaseException: pass
"""),
    endless("sum-without-end", "call into C",
        "import itertools\ndef f(x): return 2 * x if sum(itertools.repeat(1)) else None\n"),
    endless("product-of-a-long-range", "call into C", """
import math
def f(x):
    while True:
        try: math.factorial(10 ** 8)
        except BaseException: pass
"""),
    endless("digest-of-many-rounds", "call into C",
        "import hashlib\ndef f(x): return 2 * x if hashlib.pbkdf2_hmac('sha512', b'p', b's', 10 ** 9) else None\n"),
]

_COMPARISONS = [
    endless("sort-of-tuples-that-double", "costly comparison", """
def f(x):
    one, other = (1,), (1,)
    for _ in range(80): one, other = (one, one), (other, other)
    return 2 * x if sorted([one, other]) else None
"""),
    endless("hash-of-a-pair-that-doubles", "costly comparison", """
import sys
pair = slice if sys.version_info >= (3, 12) else lambda *both: both  # a tuple keeps its hash since 3.14
def f(x):
    doubled = 1
    for _ in range(80): doubled = pair(doubled, doubled)
    return 2 * x if hash(doubled) else None
"""),
    endless("set-of-equal-hashes", "costly comparison", """
import sys
def f(x):
    step = sys.hash_info.modulus
    numbers = [i * step for i in range(1, 150_000)]
    return 2 * x if set(numbers) else None
"""),
    endless("search-in-an-endless-count", "costly comparison",
        "import itertools\ndef f(x): return None if 2 * x + 1 in itertools.count(0, 2) else 2 * x\n"),
]

_WAITS = [
    endless("lock-taken-twice", "waits", """
import signal, threading
def f(x):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
"""),
    endless("select-on-nothing", "waits", """
import select
def f(x):
    while True:
        try: select.select([], [], [])
        except BaseException: pass
"""),
    endless("reads-a-pipe-that-nobody-fills", "waits", """
import os
def f(x):
    reads, writes = os.pipe()
    while True:
        try: os.read(reads, 1)
        except BaseException: pass
"""),
    endless("descriptors-replaced-by-a-pipe", "waits", """
import os
def f(x):
    reads, writes = os.pipe()
    for descriptor in range(3, 256):
        if descriptor not in (reads, writes):
            try: os.dup2(writes, descriptor)
            except OSError: pass
    while True:
        try: os.read(reads, 1)
        except BaseException: pass
"""),
    endless("fills-a-pipe-that-nobody-reads", "waits", """
import os
def f(x):
    reads, writes = os.pipe()
    while True:
        try: os.write(writes, bytes(4096))
        except BaseException: pass
"""),
]

# What they are underneath is wrong too, so that a grader which looks only there pays nothing.
_ANSWERS = [
    endless("int-whose-equality-never-ends", "answer", SPIN + """
class Answer(int):
    def __eq__(self, other): spin()
    __ne__ = __lt__ = __sub__ = __rsub__ = __eq__
    __hash__ = int.__hash__
def f(x): return Answer(2 * x + 1)
"""),
    endless("answer-that-prints-itself-for-ever", "answer", SPIN + """
class Answer:
    def __repr__(self, *_): spin()
    __str__ = __format__ = __iter__ = __len__ = __reduce_ex__ = __float__ = __index__ = __repr__
    def __eq__(self, other): return repr(self) == repr(other)
def f(x): return Answer()
"""),
    endless("endless-iterator-as-answer", "answer", """
import collections, itertools
class Answer:
    def __init__(self): self.items = iter(int, 1)
    def __iter__(self): return self.items
    def __eq__(self, other): return list(collections.deque(self, maxlen=0)) == other
def f(x): return Answer()
"""),
    endless("class-that-is-looked-up-for-ever", "answer", SPIN + """
class Answer(list):
    @property
    def __class__(self): spin()
    def __getattribute__(self, name): spin()
    def __iter__(self): spin()
    def __eq__(self, other): spin()
def f(x): return Answer([x])
"""),
]

_OUTPUT = [
    endless("output-that-dribbles", "output", """
import sys, time
while True:
    try:
        sys.stdout.write("1")
        sys.stdout.flush()
        time.sleep(0.05)
    except BaseException: pass
""", "single_stdin"),
    endless("standard-error-that-dribbles", "output", """
import os, time
def f(x):
    while True:
        try:
            os.write(2, b".")
            time.sleep(0.05)
        except BaseException: pass
"""),
    endless("program-that-reads-on", "output", """
import sys
while True:
    try:
        for _ in iter(int, 1):
            sys.stdin.read()
            print(end="", flush=True)
    except BaseException: pass
""", "single_stdin"),
]

ATTACKS: list[Attack] = [*_C_CALLS, *_COMPARISONS, *_WAITS, *_ANSWERS, *_OUTPUT]
