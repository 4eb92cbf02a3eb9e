"""Stdin programs that leave something behind and may share a process all the same: it is put right, or seen.

Every one prints its input and whatever the leftover would change.
"""

PUT_RIGHT: dict[str, str] = {
    "a thread that prints late": """
import threading
def late():
    printed.wait()
    print("late", word)
printed = threading.Event()
word = input()
threading.Thread(target=late).start()
print("main", word, threading.active_count())
printed.set()
""",
    "a thread's name": """
import threading
thread = threading.Thread(target=lambda: print(input(), threading.current_thread().name))
thread.start()
thread.join()
""",
    "the stack of threads": "import threading\nprint(input(), threading.stack_size(1 << 27))",
    "a builtin patched under another name": """
def patch(functions): functions.len = lambda _: 99
print(input(), len("four"))
patch(getattr(print, "__se" + "lf__"))
""",
    "limits of the interpreter": """
import sys
print(input(), sys.getrecursionlimit(), sys.get_int_max_str_digits())
sys.setrecursionlimit(60)
sys.set_int_max_str_digits(0)
""",
    "a precision for decimals": """
from decimal import *
print(input(), Decimal(1) / Decimal(7), getcontext().flags[Inexact])
getcontext().prec = 5
getcontext().traps[Inexact] = True
""",
    "a context for decimals": """
from decimal import *
print(input(), Decimal(1) / Decimal(7))
setcontext(Context(prec=3, rounding=ROUND_UP))
""",
    "the state of random": "import random\nprint(input(), random.random())\nrandom.seed(5)",
    "a replaced stdout": """
import io, sys
word = input()
real, sys.stdout = sys.stdout, io.StringIO()
print("into the buffer", word)
real.write(sys.stdout.getvalue())
""",
    "a second text layer over stdout": "out = open(1, 'w', closefd=False)\nout.write(input() + ' unflushed')",
    "a path and arguments": """
import sys
print(input(), "elsewhere" in sys.path, sys.argv)
sys.path.insert(0, "elsewhere")
sys.argv.append("more")
""",
    "an exit in the middle": "import sys\nprint(input())\nsys.exit(3)",
    "a generator in a cycle, which still has to end": """
def late():
    try:
        yield
    finally:
        print("late", word)
word = input()
waiting = [late()]
waiting.append(waiting)
next(waiting[0])
print("main", word)
""",
    "a stream of its own in a cycle, which still has to be flushed": """
import io
class Stream(io.IOBase):
    def __init__(self, word): self.word, self.me = word, self
    def flush(self):
        if self.word: print("late", self.word)
        self.word = ""
Stream(input())
""",
    "an output of its own, written through os": """
import os, sys
from io import BytesIO, IOBase
class Out(IOBase):
    def __init__(self, file):
        self.fd, self.held = file.fileno(), BytesIO()
        self.write = lambda text: self.held.write(text.encode())
    def flush(self):
        os.write(self.fd, self.held.getvalue())
        self.held.truncate(0), self.held.seek(0)
sys.stdout = Out(sys.stdout)
read = BytesIO(os.read(0, 1000)).readline
print(read().decode().strip())
""",
    "what contest programs do besides": """
import io, os, re, sys
from decimal import *
from functools import cmp_to_key, lru_cache
getcontext().prec = 30
sys.setrecursionlimit(10**6)
class Node:
    count = 0
    def __init__(self):
        self.word = re.sub("x", "y", "xyz")
        type(self).count += 1
def words():
    try:
        yield Node().word
    finally:
        Decimal(1) / 7
assert next(words()) == "yyz" and Node.count == 1
sys.stdin = io.StringIO(os.read(0, os.fstat(0).st_size).decode())
print(input(), Node.count)
""",
}
"""The next run in the same process finds nothing of it."""

SEEN: dict[str, str] = {
    "a daemon thread": """
import threading, time
print(input(), threading.active_count())
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
""",
    "a file": "import os\nprint(input(), os.path.exists('left.txt'))\nopen('left.txt', 'w').write('left')",
    "a file in shared memory": "import os\nprint(input(), os.listdir('/dev/shm'))\nopen('/dev/shm/left', 'w')",
    "its own source changed": "print(input(), len(open(__file__).read()))\nopen(__file__, 'a').write('#' * 1000)",
    "a folder that it locks": "import os\nprint(input(), os.access('.', os.W_OK))\nos.chmod('.', 0o500)",
    "descriptors until there are no more": """
import os
print(input(), os.open("/dev/null", os.O_RDONLY) < 64)
try:
    while True:
        with open("/dev/null"):
            os.open("/dev/null", os.O_RDONLY)
except OSError:
    print("no more")
""",
    "an exit that skips everything": "import os, sys\nprint(input())\nsys.stdout.flush()\nos._exit(0)",
    "much memory": "print(input(), len(b'x' * (80 << 20)))",
    "an attribute of a class of the library": """
from collections import Counter
def mark(kind):
    seen = getattr(kind, "seen", 0)
    kind.seen = seen + 1
    return seen
print(input(), mark(Counter))
""",
    "an attribute of an object of the library": """
import json
print(input(), json.dumps([1]), getattr(json._default_encoder, "mark", None))
def mark(encoder): encoder.indent, encoder.mark = 3, 1
mark(json._default_encoder)
""",
    "an attribute that claims to be equal": """
import math
class Equal:
    def __eq__(self, other): return True
    __hash__ = None
def change(module): module.tau = Equal()
print(input(), type(math.tau).__name__)
change(math)
""",
    "a list of the library": """
import json, string, calendar
print(input(), len(calendar.mdays))
calendar.mdays.append(5)
""",
    "a module exchanged by a computed name": """
import heapq, sys
print(input(), type(heapq).__name__)
getattr(sys, "mod" + "ules")["heapq"] = 5
""",
}
"""The next run gets a new process."""
