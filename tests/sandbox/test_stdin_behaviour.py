"""A stdin program prints, byte for byte, what `python main.py < in > out` prints, in each run and both isolations."""

# ruff: noqa: E501 - a line a program

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from evaluator.sandbox import Outcome
from tests.sandbox.conftest import Run

LINES = b"3 4\nsecond line\n\nlast"

PROGRAMS: dict[str, str] = {
    "input": "while True:\n    try: print(repr(input()))\n    except EOFError: break",
    "input with a prompt": "a = input('name? ')\nprint(a)",
    "stdin read": "import sys\nprint(repr(sys.stdin.read()))",
    "stdin lines": "import sys\nfor line in sys.stdin: print(repr(line))",
    "stdin buffer": "import sys\nprint(sys.stdin.buffer.read())",
    "stdin buffer lines": "import sys\nread = sys.stdin.buffer.readline\nprint(read(), read(), read(), read(), read())",
    "open 0": "print(repr(open(0).read()))",
    "open 0 in bytes, then split": "print(open(0, 'rb').read().split())",
    "open 0, stdin kept": "import sys\nwith open(0, closefd=False) as f: print(repr(f.readline()))\nprint(sys.stdin.closed)",
    "/dev/stdin": "print(repr(open('/dev/stdin').read()))",
    "/dev/stdout": "open('/dev/stdout', 'a').write('by name\\n')\nprint('by print')",
    "readline mixed with input": (
        "import sys\nprint(repr(input()), repr(sys.stdin.readline()), repr(sys.stdin.read(2)), repr(sys.stdin.read()))"
    ),
    "input after iteration": "import sys\nfor line in sys.stdin:\n    print(line)\n    break\nprint(repr(sys.stdin.read()))",
    "os.read": "import os\nprint(os.read(0, 3))\nprint(os.read(0, 10**6))\nprint(os.read(0, 10))",
    "fast input": (
        "import io, os, sys\nclass Fast(io.IOBase):\n    def __init__(self): self.buffer = io.BytesIO(os.read(0, 10**7))\n"
        "    def readline(self): return self.buffer.readline().decode()\nsys.stdin = Fast()\n"
        "input = lambda: sys.stdin.readline().rstrip('\\r\\n')\nprint(repr(input()), repr(input()))"
    ),
    "fast output": (
        "import io, os, sys\nclass Out(io.IOBase):\n    def __init__(self): self.kept = io.StringIO()\n"
        "    def write(self, text): self.kept.write(text)\n"
        "    def flush(self): os.write(1, self.kept.getvalue().encode()); self.kept = io.StringIO()\n"
        "sys.stdout = Out()\nprint('kept')\nsys.stdout.flush()\nprint('flushed at the end')"
    ),
    "stdin replaced by text": "import io, sys\nsys.stdin = io.StringIO('9 9')\nprint(input())",
    "stdout replaced": "import io, sys\nsys.stdout = io.StringIO()\nprint('lost')\nsys.__stdout__.write('kept\\n')",
    "stdout to a file and back": (
        "import sys\nsys.stdout = open('o.txt', 'w')\nprint('in the file')\nsys.stdout.close()\n"
        "sys.stdout = sys.__stdout__\nprint(open('o.txt').read())"
    ),
    "stdout closed": "import sys\nprint('before')\nsys.stdout.close()",
    "print after stdout is closed": "import sys\nsys.stdout.close()\nprint('late')",
    "stdout None": "import sys\nprint('before')\nsys.stdout = None\nprint('to nobody')",
    "print to a buffer and to stdout": (
        "import sys\nprint('a')\nsys.stdout.flush()\nsys.stdout.buffer.write(b'b\\n')\nsys.stdout.buffer.flush()\nprint('c')"
    ),
    "mixed without a flush": "import sys\nprint('text')\nsys.stdout.buffer.write(b'bytes\\n')",
    "os.write beside print": "import os\nprint('later')\nos.write(1, b'sooner\\n')",
    "print options": "import sys\nprint(1, 2, sep='-', end='!')\nprint(flush=True)\nprint('e', file=sys.stderr)",
    "the name and the file": "import os\nprint(__name__, os.path.isabs(__file__), os.path.basename(__file__), __doc__, __package__)",
    "a docstring": "'''What it is.'''\nprint(__doc__)",
    "annotations": "x: int = 3\nprint(__annotations__)",
    "main guard": "def main(): print('main ran')\nif __name__ == '__main__': main()",
    "arguments": "import sys\nprint(sys.argv, len(sys.argv))",
    "module main": "import sys, __main__\nx = 5\nprint(__main__.x, sys.modules['__main__'].x, __main__.__dict__ is globals())",
    "its own source": "print(open(__file__).read()[:5])",
    "globals and builtins": "print(sorted(k for k in globals() if not k.startswith('__')), 'print' in dir(__builtins__))",
    "exit 0": "import sys\nprint(1)\nsys.exit(0)",
    "exit text": "import sys\nprint(1)\nsys.exit('why it failed')",
    "exit None": "import sys\nsys.exit(None)",
    "exit True": "exit(True)",
    "exit 300": "exit(300)",
    "exit -1": "import sys\nsys.exit(-1)",
    "exit with a list": "import sys\nsys.exit([1, 2])",
    "quit": "print(1)\nquit()\nprint(2)",
    "raise SystemExit": "raise SystemExit",
    "exit in a function within try": "try:\n    exit(3)\nexcept Exception: print('not here')\nfinally: print('finally')",
    "exit caught": "try:\n    exit(3)\nexcept SystemExit as e: print('caught', e.code)",
    "exit in a thread": (
        "import sys, threading\nt = threading.Thread(target=sys.exit, args=(3,))\nt.start()\nt.join()\nprint('main goes on')"
    ),
    "os._exit after a flush": "import os\nprint('flushed', flush=True)\nprint('lost')\nos._exit(5)",
    "os.abort": "import os\nprint('flushed', flush=True)\nos.abort()",
    "a signal to itself": "import os, signal\nprint('x', flush=True)\nos.kill(os.getpid(), signal.SIGTERM)",
    "an exception": "print('before')\nraise ValueError('why')",
    "an exception with notes of the usual kind": "print(int('x'))",
    "a failed assert": "assert 1 == 2, 'unequal'",
    "EOF": "input(); input(); input(); input(); input()",
    "an exception hook": "import sys\nsys.excepthook = lambda kind, e, t: print('hook', kind.__name__, e)\n1 / 0",
    "an exception in a thread": (
        "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nprint('main goes on')"
    ),
    "an unjoined thread that prints": (
        "import threading, time\ndef work():\n    time.sleep(0.05)\n    print('from the thread')\n"
        "threading.Thread(target=work).start()\nprint('from main')"
    ),
    "the solution in a thread with a large stack": (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(1 << 27)\n"
        "def depth(n): return 0 if n == 0 else 1 + depth(n - 1)\n"
        "def main(): print(depth(50000))\nthreading.Thread(target=main).start()"
    ),
    "a daemon thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\nprint('end')"
    ),
    "a thread pool": (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n"
        "    print(list(pool.map(lambda x: x * x, range(5))))"
    ),
    "a thread pool that is left open": (
        "from concurrent.futures import ThreadPoolExecutor\nprint(ThreadPoolExecutor(2).submit(pow, 2, 5).result())"
    ),
    "a timer": "import threading\nthreading.Timer(0.3, print, ['rang']).start()\nprint('set')",
    "atexit order": (
        "import atexit\natexit.register(print, 'first registered')\natexit.register(print, 'last registered')\nprint('body')"
    ),
    "atexit after an exception": "import atexit\natexit.register(print, 'bye')\nraise KeyError(1)",
    "atexit that raises": "import atexit\natexit.register(print, 'still')\natexit.register(lambda: 1 / 0)\nprint('body')",
    "atexit and a thread": (
        "import atexit, threading, time\natexit.register(print, 'atexit')\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()\nprint('body')"
    ),
    "del at the end": (
        "import os\nclass A:\n    def __init__(self, name): self.name = name\n"
        "    def __del__(self): print('del', self.name, os.sep)\na = A('global')\nA('dropped')\nprint('body')"
    ),
    "a generator's finally at the end": "def g():\n    try: yield 1\n    finally: print('closed')\nit = g()\nprint(next(it))",
    "asyncio": "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    print(input())\nasyncio.run(main())",
    "asyncio gather": (
        "import asyncio\nasync def w(i):\n    await asyncio.sleep(0.001 * i)\n    return i\n"
        "async def main(): print(await asyncio.gather(*map(w, range(5))))\nasyncio.run(main())"
    ),
    "pickle of an own class": (
        "import pickle\nclass P:\n    def __init__(self, x): self.x = x\nprint(pickle.loads(pickle.dumps(P(input()))).x)"
    ),
    "deepcopy of an own class": "import copy\nclass P: pass\np = P(); p.x = [1]\nprint(copy.deepcopy(p).x, type(p).__module__)",
    "dataclasses": (
        "from dataclasses import dataclass, field\n@dataclass(order=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\n"
        "print(P(1) < P(2), P(3, [4]))"
    ),
    "dataclasses with future annotations": (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))"
    ),
    "typing": "from typing import NamedTuple, get_type_hints\nclass P(NamedTuple):\n    x: 'int'\nprint(P(1), get_type_hints(P))",
    "enum": "from enum import Enum, auto\nclass C(Enum):\n    RED = auto()\nprint(C.RED, repr(C.RED), list(C))",
    "own exception": "class Oops(Exception): pass\ntry: raise Oops('x')\nexcept Oops as e: print(repr(e))",
    "repr of an own class": "class A: pass\nprint(A, type(A()).__qualname__, A.__module__)",
    "unittest inside": (
        "import unittest, io\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\n"
        "told = io.StringIO()\nresult = unittest.TextTestRunner(stream=told, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(T))\n"
        "print(told.getvalue().split(' in ')[0], result.wasSuccessful(), result.testsRun)"  # not how long it took
    ),
    "unittest main": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 2)\nunittest.main()",
    "doctest": "def f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1\nimport doctest\nprint(doctest.testmod())",
    "own functools cache": (
        "import functools\n@functools.lru_cache(None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "print(fib(80), fib.cache_info().misses)"
    ),
    "global state": "import collections\nseen = collections.Counter()\nseen['x'] += 1\nprint(seen)",
    "exec and eval": "exec('y = 7')\nprint(eval('y + 1'), y)",
    "not ascii": "print('naïve – 日本 🎉', input())",
    "file encoding": "import locale, sys\nprint(sys.stdout.encoding, sys.stdin.encoding, open('x', 'w').encoding.lower())",
    "surrogateescape": "import sys\nsys.stdout.write(chr(0xdcff) + '\\n')",
    "a lone surrogate": "print(chr(0xd800))",
    "a lone surrogate on stderr": "import sys\nprint(chr(0xd800), file=sys.stderr)\nprint('ok')",
    "NUL and control characters": "print('a\\0b\\x1b[0m\\r\\x0c')",
    "carriage returns written": "import sys\nsys.stdout.write('a\\r\\nb\\rc')",
    "no newline at the end": "print('x', end='')",
    "nothing": "",
    "much output": "for i in range(20000): print(i)",
    "temp files": (
        "import os, tempfile\nwith tempfile.NamedTemporaryFile('w+') as f:\n    f.write('x')\n    f.seek(0)\n    print(f.read())\n"
        "with tempfile.TemporaryDirectory() as d: print(os.listdir(d))\nopen('own.txt', 'w').write('y')\nprint(open('own.txt').read())"
    ),
    "a relative path": "import os\nos.mkdir('d')\nprint(os.path.exists('d'), os.path.basename(os.path.abspath('d')))",
    "time": "import time\na = time.perf_counter()\nprint(time.perf_counter() >= a, time.time() > 10**9)",
    "sorting with cmp_to_key": "from functools import cmp_to_key\nprint(sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)))",
    "big ints": "import sys\nprint(2 ** 1000)\nsys.set_int_max_str_digits(0)\nprint(len(str(10 ** 5000)))",
    "too many digits": "print(10 ** 5000)",
    "recursion error": "def f(): f()\ntry: f()\nexcept RecursionError as e: print(type(e).__name__)",
    "walrus, match and the like": (
        "match input().split():\n    case [a, b]: print(int(a) + int(b))\n    case other: print(other)\nprint([y := 1, y ** 2])"
    ),
    "decimal": "from decimal import Decimal, getcontext\ngetcontext().prec = 50\nprint(Decimal(1) / 3)",
    "a warning": "import warnings\nwarnings.warn('careful')\nprint('ok')",
    "logging": "import logging, sys\nlogging.basicConfig(stream=sys.stdout, format='%(message)s')\nlogging.warning('logged')",
    "isatty": "import sys, os\nprint(sys.stdin.isatty(), sys.stdout.isatty(), os.isatty(0))",
    "fileno": "import sys\nprint(sys.stdin.fileno(), sys.stdout.fileno(), sys.stderr.fileno())",
    "seek on stdin": "import sys\nprint(repr(sys.stdin.read(2)))\nsys.stdin.seek(0)\nprint(repr(sys.stdin.readline()))",
    "fstat of stdin": "import os\nprint(os.fstat(0).st_size, os.path.getsize('/dev/stdin'))",
    "mmap of stdin": "import mmap\nprint(mmap.mmap(0, 0, access=mmap.ACCESS_READ)[:3])",
    "fileinput": "import fileinput\nfor line in fileinput.input(): print(repr(line))",
    "getpass of the environment": "import os\nprint('PATH' in os.environ, os.environ.get('NO_SUCH'))",
    "gc and weakref": "import gc, weakref\nclass A: pass\na = A()\nr = weakref.ref(a)\ndel a\ngc.collect()\nprint(r())",
    "numpy is optional": "try: import no_such_package\nexcept ImportError as e: print(e)",
}

INPUTS = [b"", b"1 2\r\n3 4\r\nend\rx", b"7 8", b"1 \xff\xfe 2\nb\n", "é 日\u2028x\n".encode()]
READERS = [name for name in PROGRAMS if any(word in PROGRAMS[name] for word in ("stdin", "input", "open(0", "read(0"))]


@cache
def plain_python(source: str, given: bytes) -> tuple[bytes, bytes, int]:
    """Python's own behaviour, with files for stdin and stdout as in the sandbox."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "main.py").write_text(source, encoding="utf-8")
        (folder / "in").write_bytes(given)
        with (folder / "in").open("rb") as stdin, (folder / "out").open("wb") as stdout:
            ended = subprocess.run(
                [sys.executable, "-X", "utf8", "main.py"],
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={"PATH": "/usr/bin", "LANG": "C.UTF-8", "HOME": str(folder), "TMPDIR": str(folder)},
                check=False,
                timeout=60,
            )
        return (folder / "out").read_bytes(), ended.stderr, ended.returncode


def said(outcome: Outcome) -> tuple[bytes, int | None]:
    return outcome.stdout.data, outcome.exit_status


def last_line(stderr: bytes) -> str:
    """A traceback's last line. Its frames differ, because the sandbox shows only the program's."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return lines[-1] if lines else ""


def assert_like_plain_python(outcome: Outcome, source: str, given: bytes) -> None:
    stdout, stderr, status = plain_python(source, given)
    assert said(outcome) == (stdout, status), (given, outcome)
    assert last_line(outcome.stderr.data) == last_line(stderr), (given, outcome)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_plain_python(program: Run, name: str) -> None:
    source = PROGRAMS[name]
    for reuse in (True, False):
        for outcome in program(source, LINES, LINES, reuse=reuse):
            assert_like_plain_python(outcome, source, LINES)


@pytest.mark.parametrize("name", READERS)
def test_reading_as_plain_python(program: Run, name: str) -> None:
    source = PROGRAMS[name]
    for given, outcome in zip(INPUTS, program(source, *INPUTS), strict=True):
        assert_like_plain_python(outcome, source, given)


def test_each_run_reads_its_own_input(program: Run) -> None:
    for reuse in (True, False):
        outcomes = program("print(sum(map(int, open(0).read().split())))", b"1 2", b"30", b"", b"4\n5", reuse=reuse)
        assert [outcome.stdout.text() for outcome in outcomes] == ["3\n", "30\n", "0\n", "9\n"]


def test_output_of_a_long_run_does_not_stay_in_the_files(program: Run) -> None:
    outcomes = program("print(input() * 1000)", b"abc\n", b"z\n", b"\n")
    assert [outcome.stdout.size for outcome in outcomes] == [3001, 1001, 1]


def test_a_traceback_shows_the_programs_own_lines(program: Run) -> None:
    (outcome,) = program("import json\ndef parse(text):\n    return json.loads(text)\nparse(input())", b"{\n")
    assert outcome.stderr.text().splitlines()[:5] == [
        "Traceback (most recent call last):",
        '  File "main.py", line 4, in <module>',
        "    parse(input())",
        '  File "main.py", line 3, in parse',
        "    return json.loads(text)",
    ]
