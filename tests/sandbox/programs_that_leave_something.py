"""Stdin programs that leave something behind, each to be run three times: the second run must not see the first.

Every one prints its input's first word and whatever the leftover would change.
"""

from __future__ import annotations

from pathlib import Path

SHARED_FILE = Path("/dev/shm/rollscope-test-left")
"""A file that one of them leaves; without a sandbox it is on this machine."""

PROGRAMS: dict[str, str] = {
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
thread = threading.Thread(target=lambda: print(input(), threading.current_thread().name.split()[0]))
thread.start()
thread.join()
""",
    "a daemon thread": """
import threading, time
word = input()
print(word, threading.active_count())
threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
""",
    "a thread with a large stack and a deep recursion": """
import sys, threading
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
def main():
    print(input(), depth(30000))
sys.setrecursionlimit(100000)
threading.stack_size(128 * 1024 * 1024)
thread = threading.Thread(target=main)
thread.start()
thread.join()
""",
    "an atexit handler": """
import atexit
word = input()
atexit.register(lambda: print("bye", word))
print("hello", word)
""",
    "a builtin patched through another": """
n = len(input())
print.__self__.len = lambda _: 99
print(n)
""",
    "a file opened through the type of a stream": """
import sys
FileIO = type(sys.stdin.buffer.raw)
left = FileIO("left.txt", "a+")
left.write(b"x")
left.seek(0)
print(input(), len(left.read()))
""",
    "a patched builtin": """
import builtins
print(input(), len("four"))
builtins.len = lambda _: 99
""",
    "a builtin patched through globals": """
word = input()
b = globals()["__builtins__"]
print(word, sorted([3, 1, 2]))
(b if isinstance(b, dict) else b.__dict__)["sorted"] = list
""",
    "a patched module": """
import math
print(input(), math.sqrt(16), hasattr(math, "mark"))
math.sqrt = lambda x: -1
math.mark = True
""",
    "a module patched by setattr": """
import random
print(input(), random.randint(1, 10) <= 10)
setattr(random, "randint", lambda a, b: 10 ** 6)
""",
    "a patched class of the library": """
from fractions import Fraction
print(input(), Fraction(1, 2))
Fraction.__str__ = lambda self: "patched"
""",
    "an attribute kept on a class through an alias": """
from collections import Counter
def mark(kind):
    seen = getattr(kind, "seen", 0)
    kind.seen = seen + 1
    return seen
print(input(), mark(Counter))
""",
    "a changed working directory": """
import os
print(input(), os.path.basename(os.getcwd()) != "sub")
os.mkdir("sub")
os.chdir("sub")
""",
    "a changed environment": """
import os
print(input(), os.environ.get("MARK"))
os.environ["MARK"] = "1"
""",
    "a signal handler and a timer": """
import signal
print(input(), signal.getsignal(signal.SIGALRM) == signal.SIG_DFL, signal.getitimer(signal.ITIMER_REAL)[0] == 0)
signal.signal(signal.SIGALRM, lambda *_: print("rang"))
signal.setitimer(signal.ITIMER_REAL, 60)
""",
    "a raised recursion limit": """
import sys
print(input(), sys.getrecursionlimit() >= 1000, sys.getrecursionlimit() == 123456)
sys.setrecursionlimit(123456)
""",
    "a lowered recursion limit": """
import sys
print(input(), sys.getrecursionlimit() > 200)
sys.setrecursionlimit(60)
""",
    "a limit on digits": """
import sys
print(input(), sys.get_int_max_str_digits())
sys.set_int_max_str_digits(0)
""",
    "a decimal context": """
from decimal import Decimal, getcontext
print(input(), Decimal(1) / Decimal(7))
getcontext().prec = 5
""",
    "a decimal context through its default": """
import decimal
print(input(), decimal.Decimal(2).sqrt())
decimal.DefaultContext.prec = 3
decimal.setcontext(decimal.Context(prec=4))
""",
    "the state of random": """
import random
print(input(), random.random() < 2, random.getstate()[0])
random.seed(5)
random.random()
""",
    "a replaced random source": """
import random
print(input(), type(random._inst).__name__)
random._inst = None
random.random = lambda: 7
""",
    "a file": """
import os
print(input(), os.path.exists("left.txt"))
with open("left.txt", "w") as file:
    file.write("left")
""",
    "a file in shared memory": f"""
import os
path = "{SHARED_FILE}"
print(input(), os.path.exists(path) and os.getenv("USER") == "sandbox")
open(path, "w").close()
""",
    "its own source changed": """
print(input(), len(open(__file__).read()) < 1000)
with open(__file__, "a") as file:
    file.write("#" * 1000)
""",
    "a closed descriptor": """
import os, sys
print(input())
sys.stdout.flush()
os.close(1)
os.close(0)
""",
    "an open descriptor": """
import os
word = input()
descriptor = os.dup(1)
print(word, descriptor < 64)
""",
    "a closed stdin": """
import sys
print(input())
sys.stdin.close()
""",
    "a replaced stdout": """
import io, sys
word = input()
real, sys.stdout = sys.stdout, io.StringIO()
print("into the buffer", word)
real.write(sys.stdout.getvalue())
""",
    "a replaced stdout that is never flushed": """
import io, sys
print(input())
sys.stdout = io.StringIO()
print("lost")
""",
    "a replaced stdin": """
import io, sys
word = input()
sys.stdin = io.StringIO("from memory")
print(word, input())
""",
    "a second text layer over stdout": """
out = open(1, "w", closefd=False)
out.write(input() + " unflushed")
""",
    "an object that prints when it is freed": """
class Speaker:
    def __init__(self, word): self.word = word
    def __del__(self): print("died", self.word)
speaker = Speaker(input())
print("lives")
""",
    "a cycle that prints when it is freed": """
class Speaker:
    def __init__(self, word):
        self.word, self.me = word, self
    def __del__(self): print("died", self.word)
Speaker(input())
print("lives")
""",
    "a tracing function": """
import sys
calls = []
print(input(), sys.gettrace())
sys.settrace(lambda *_: None)
""",
    "a path for imports": """
import sys
print(input(), "elsewhere" in sys.path)
sys.path.insert(0, "elsewhere")
""",
    "a module of its own": """
import sys, types
print(input(), "mine" in sys.modules)
sys.modules["mine"] = types.ModuleType("mine")
""",
    "a warning filter": """
import warnings
print(input(), any(f[0] == "error" for f in warnings.filters))
warnings.simplefilter("error")
""",
    "a registered class": """
from numbers import Number
class Mine: pass
print(input(), issubclass(str, Number))
Number.register(str)
""",
    "a locale of commas": """
import locale
print(input(), locale.setlocale(locale.LC_NUMERIC))
locale.setlocale(locale.LC_NUMERIC, "C")
""",
    "a limit of the kernel's": """
import resource
print(input(), resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 20)
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
""",
    "a file mode mask": """
import os
old = os.umask(0o077)
print(input(), old != 0o077)
""",
    "garbage collection switched off": """
import gc
print(input(), gc.isenabled())
gc.disable()
""",
    "an exit in the middle": """
import sys
print(input())
sys.exit(3)
""",
    "an exit that skips everything": """
import os, sys
print(input())
sys.stdout.flush()
os._exit(0)
""",
    "a low-level thread": """
import _thread, time
print(input(), _thread._count())
_thread.start_new_thread(time.sleep, (30,))
time.sleep(0.01)
""",
    "an interned cache on a function of the library": """
import functools, heapq
print(input(), getattr(heapq.merge, "mark", None))
def mark(function): function.mark = 1
mark(heapq.merge)
""",
    "a module-level list of the library": """
import string, keyword
print(input(), len(keyword.kwlist) < 100)
keyword.kwlist.extend(["x"] * 100)
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
    "a pattern of its own in the cache": """
import re
print(input(), re.fullmatch("a+", "aaa") is not None, re.sub("(b)", r"<\\1>", "abc"))
for key in list(re._cache):
    re._cache[key] = re.compile("nothing")
""",
    "a descriptor beside one that was closed": """
import os
with open("/dev/null"):
    left = os.open("/dev/null", os.O_RDONLY)
print(input(), left < 64)
""",
    "descriptors until there are no more": """
import os
print(input())
try:
    while True:
        with open("/dev/null"):
            os.open("/dev/null", os.O_RDONLY)
except OSError:
    print("no more")
""",
    "a folder that it locks": """
import os
print(input(), os.access(".", os.W_OK))
os.chmod(".", 0o500)
""",
    "its own source changed, and the time of change set back": """
import os
before = os.stat(__file__)
source = open(__file__).read()
print(input(), source[-4:-1])
with open(__file__, "r+") as file:
    file.write(source[:-4] + "xyz\\n")
os.utime(__file__, ns=(before.st_atime_ns, before.st_mtime_ns))
# abc
""",
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
    "a module inside a module": """
import json
print(input(), json.dumps(float("inf")))
json.encoder.c_make_encoder = None
json.encoder.INFINITY = 5
""",
    "a module under another name": """
import random
print(input(), random._os.sep)
random._os.sep = "x"
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
    "an attribute of an object of the library": """
import json
print(input(), json.dumps([1]), getattr(json._default_encoder, "mark", None))
def mark(encoder): encoder.indent, encoder.mark = 3, 1
mark(json._default_encoder)
""",
    "a module exchanged by a computed name": """
import heapq, sys
print(input(), type(heapq).__name__)
getattr(sys, "mod" + "ules")["heapq"] = 5
""",
    "a builtin patched through a pattern": """
print(input(), len("four"))
match print:
    case object(__self__=functions):
        functions.len = lambda _: 99
""",
    "an attribute of a global with many names before it": (
        f"import math, heapq\n{'; '.join(f'n{number} = 0' for number in range(300))}\n"
        "print(input(), hasattr(heapq.merge, 'mark'))\nfrom heapq import merge\nmerge.mark = 1\n"
    ),
    "the processor time of the process": """
import time
print(input(), time.process_time() < 0.3)
while time.process_time() < 0.31: pass
""",
}
