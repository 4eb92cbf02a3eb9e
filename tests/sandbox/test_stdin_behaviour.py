"""A stdin program prints, byte for byte, what `python main.py < in > out` prints, in each run and both isolations."""

# ruff: noqa: E501 - a line a program

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
    "open 0": "print(repr(open(0).read()))",
    "open 0, stdin kept": "import sys\nwith open(0, closefd=False) as f: print(repr(f.readline()))\nprint(sys.stdin.closed)",
    "/dev/stdout": "open('/dev/stdout', 'a').write('by name\\n')\nprint('by print')",
    "os.read": "import os\nprint(os.read(0, 3))\nprint(os.read(0, 10**6))\nprint(os.read(0, 10))",
    "stdout replaced": "import io, sys\nsys.stdout = io.StringIO()\nprint('lost')\nsys.__stdout__.write('kept\\n')",
    "stdout closed": "import sys\nprint('before')\nsys.stdout.close()",
    "print after stdout is closed": "import sys\nsys.stdout.close()\nprint('late')",
    "mixed without a flush": "import sys\nprint('text')\nsys.stdout.buffer.write(b'bytes\\n')",
    "os.write beside print": "import os\nprint('later')\nos.write(1, b'sooner\\n')",
    "the name and the file": "import os\nprint(__name__, os.path.isabs(__file__), os.path.basename(__file__), __doc__, __package__)",
    "annotations": "x: int = 3\nprint(globals().get('__annotations__'))",
    "module main": "import sys, __main__\nx = 5\nprint(__main__.x, sys.modules['__main__'].x, __main__.__dict__ is globals())",
    "arguments": "import sys\nprint(sys.argv, len(sys.argv))",
    "exit text": "import sys\nprint(1)\nsys.exit('why it failed')",
    "exit None": "import sys\nsys.exit(None)",
    "exit 300": "exit(300)",
    "exit -1": "import sys\nsys.exit(-1)",
    "an exception": "print('before')\nraise ValueError('why')",
    "an exception hook": "import sys\nsys.excepthook = lambda kind, e, t: print('hook', kind.__name__, e)\n1 / 0",
    "an exception in a thread": (
        "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nprint('main goes on')"
    ),
    "an unjoined thread that prints": (
        "import threading\nmay = threading.Event()\ndef work():\n    may.wait()\n    print('from the thread')\n"
        "threading.Thread(target=work).start()\nprint('from main')\nmay.set()"
    ),
    "atexit after an exception": "import atexit\natexit.register(print, 'bye')\nraise KeyError(1)",
    "atexit that raises": "import atexit\natexit.register(print, 'still')\natexit.register(lambda: 1 / 0)\nprint('body')",
    "atexit and a thread": (
        "import atexit, threading\natexit.register(print, 'atexit')\nmay = threading.Event()\n"
        "threading.Thread(target=lambda: (may.wait(), print('thread'))).start()\nprint('body')\nmay.set()"
    ),
    "del at the end": (
        "import os\nclass A:\n    def __init__(self, name): self.name = name\n"
        "    def __del__(self): print('del', self.name, os.sep)\na = A('global')\nA('dropped')\nprint('body')"
    ),
    "stdout wrapped anew": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), 'utf-8')\nprint('ok')",
    "a pool that is not shut down": (
        "from concurrent.futures import ThreadPoolExecutor\nprint(ThreadPoolExecutor(2).submit(abs, -1).result())"
    ),
    "an interrupt": "import signal\ntry:\n    signal.raise_signal(2)\nexcept KeyboardInterrupt:\n    print('caught')",
    "not ascii": "print('naïve – 日本 🎉', input())",
    "file encoding": "import locale, sys\nprint(sys.stdout.encoding, sys.stdin.encoding, open('x', 'w').encoding.lower())",
    "surrogateescape": "import sys\nsys.stdout.write(chr(0xdcff) + '\\n')",
    "a lone surrogate": "print(chr(0xd800))",
    "a lone surrogate on stderr": "import sys\nprint(chr(0xd800), file=sys.stderr)\nprint('ok')",
    "fileno": "import sys\nprint(sys.stdin.fileno(), sys.stdout.fileno(), sys.stderr.fileno())",
    "nothing": "",
    "a warning": "import warnings\nwarnings.warn('careful')\nprint('ok')",
    "seek on stdin": "import sys\nprint(repr(sys.stdin.read(2)))\nsys.stdin.seek(0)\nprint(repr(sys.stdin.readline()))",
    "fstat of stdin": "import os\nprint(os.fstat(0).st_size, os.path.getsize('/dev/stdin'))",
}

INPUTS = [b"", b"1 2\r\n3 4\r\nend\rx", b"7 8", b"1 \xff\xfe 2\nb\n", "é 日\u2028x\n".encode()]
READERS = [name for name in PROGRAMS if any(word in PROGRAMS[name] for word in ("stdin", "input", "open(0", "read(0"))]
REPRESENTATIVES = {"input", "stdin lines", "stdin buffer", "open 0", "fileinput"}


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


def last_line(stderr: bytes) -> str:
    """A traceback's last line. Its frames differ, because the sandbox shows only the program's."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return lines[-1] if lines else ""


def assert_like_plain_python(outcome: Outcome, source: str, given: bytes) -> None:
    stdout, stderr, status = plain_python(source, given)
    assert (outcome.stdout.data, outcome.exit_status) == (stdout, status), (given, outcome)
    assert last_line(outcome.stderr.data) == last_line(stderr), (given, outcome)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_plain_python(program: Run, name: str) -> None:
    source = PROGRAMS[name]
    for reuse in (True, False):
        for outcome in program(source, LINES, LINES, reuse=reuse):
            assert_like_plain_python(outcome, source, LINES)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in REPRESENTATIVES)) for name in READERS]
)
def test_reading_as_plain_python(program: Run, name: str) -> None:
    source = PROGRAMS[name]
    for given, outcome in zip(INPUTS, program(source, *INPUTS), strict=True):
        assert_like_plain_python(outcome, source, given)


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
