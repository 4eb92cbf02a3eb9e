"""How a run ends, and what is reported about it: statuses, exceptions, limits, streams."""

import gc
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Sandbox, Status, encoded_call
from evaluator.sandbox.host.child import Child
from evaluator.sandbox.host.outcomes import Ended
from tests.sandbox.conftest import HASTY, PATIENT, Run


def lines_of(outcome: Outcome) -> list[int]:
    return [frame.line for frame in outcome.failure.frames]


# ---- values


def test_a_call_returns_its_value_with_times_and_memory(call: Run) -> None:
    (outcome,) = call("def f(a, b): return [a + b, {'k': (1, 2.5)}]", [1, 2])
    assert (outcome.status, outcome.value, outcome.exit_status) == (Status.ANSWERED, [3, {"k": (1, 2.5)}], None)
    assert outcome.cpu_s > 0
    assert outcome.memory_mb > 1


def test_keywords_reach_the_function(sandbox: Sandbox) -> None:
    with sandbox.execute(Program("def f(a, *, b): return a - b", "f"), PATIENT) as execution:
        assert execution.run(encoded_call([5], {"b": 3}), wall_s=30).value == 2


SOLUTION = """
class Solution:
    def __init__(self): self.seen = []
    def f(self, x):
        self.seen.append(x)
        return self.seen
"""


@pytest.mark.parametrize(
    ("source", "calls", "values"),
    [
        ("def f(items):\n    items.append(1)\n    return items", [[[]], [[]]], [[1], [1]]),
        (SOLUTION, [[1], [2]], [[1], [2]]),
        (SOLUTION + "def f(x): return 'function'", [[1]], ["function"]),
    ],
    ids=["arguments are new", "a new Solution", "a function is preferred to a Solution"],
)
def test_calls_of_one_program(call: Run, source: str, calls: list[list[object]], values: list[object]) -> None:
    assert [outcome.value for outcome in call(source, *calls)] == values


def test_a_missing_function_is_reported(call: Run) -> None:
    (outcome,) = call("def g(): return 1")
    assert (outcome.status, outcome.failure.message) == (Status.NOT_LOADED, "the code defines no 'f'")


def test_a_preamble_precedes_a_call_and_no_line_of_the_code_moves(call: Run) -> None:
    source = "def f(x):\n    return math.floor(2.5) / x"
    fine, failed = call(source, [1], [0], preamble="import math\nimport sys\n")
    assert (fine.value, lines_of(failed)) == (2, [2])


@pytest.mark.parametrize("reuse", [True, False])
def test_a_preamble_precedes_each_run_of_a_program(program: Run, reuse: bool) -> None:
    outcomes = program("print(math.floor(2.5))", b"", b"", preamble="import math", reuse=reuse)
    assert [outcome.stdout.text() for outcome in outcomes] == ["2\n", "2\n"]


def test_a_future_import_may_follow_a_preamble(call: Run) -> None:
    source = "from __future__ import annotations\ndef f(x: Unknown) -> List[int]: return [x]"
    assert call(source, [1], preamble="from typing import List")[0].value == [1]


@pytest.mark.parametrize("reuse", [True, False])
def test_a_numpy_program(program: Run, reuse: bool) -> None:
    pytest.importorskip("numpy")
    source = "import numpy as np\nprint(np.array(input().split(), dtype=np.int64).cumsum().tolist(), np.random.rand())"
    first, second = program(source, b"1 2 3\n", b"4 5\n", reuse=reuse)
    assert first.stdout.text().startswith("[1, 3, 6] ")
    assert second.stdout.text().startswith("[4, 9] ")
    assert first.stdout.text().split()[-1] == second.stdout.text().split()[-1], "the same random numbers in each run"


def test_random_numbers_are_the_same_in_each_test_case(call: Run) -> None:
    first, second = call("import random\ndef f(): return random.random()", [], [])
    assert first.value == second.value


# ---- exceptions


def test_an_exception_is_shown_with_the_codes_own_lines(call: Run) -> None:
    source = "import json\n\ndef g(text):\n    return json.loads(text)\n\ndef f(text):\n    return g(text)\n"
    (outcome,) = call(source, ["{"])
    assert outcome.status is Status.RAISED
    assert outcome.failure.type == "json.decoder.JSONDecodeError"
    assert outcome.failure.message.startswith("Expecting property name")
    assert [(frame.line, frame.function, frame.text) for frame in outcome.failure.frames] == [
        (7, "f", "return g(text)"),
        (4, "g", "return json.loads(text)"),
    ]


@pytest.mark.parametrize(
    ("before", "raised", "kind", "message"),
    [
        ("class Oops(Exception): pass", "Oops('why')", "Oops", "why"),
        ("class Sly(Exception):\n    def __str__(self): raise SystemExit(3)", "Sly", "Sly", "can't be shown"),
        ("", "KeyError('second') from ValueError('first')", "KeyError", "'second'"),
        ("", "ValueError('é' * 3_000_000)", "ValueError", "ééé"),
    ],
    ids=["its own class", "its text raises", "the last of a chain", "a very long message"],
)
def test_an_exception_has_its_class_and_message(
    call: Run, program: Run, before: str, raised: str, kind: str, message: str
) -> None:
    for outcome in (*call(f"{before}\ndef f(): raise {raised}"), *program(f"{before}\nraise {raised}")):
        assert outcome.status is Status.RAISED
        assert outcome.failure.type == kind
        assert message in outcome.failure.message
        assert len(outcome.failure.message) < 3000


def test_endless_recursion_leaves_out_the_middle(call: Run) -> None:
    (outcome,) = call("def f(n=0):\n    return f(n + 1) + 1")
    assert outcome.failure.type == "RecursionError"
    assert outcome.failure.omitted > 500
    assert set(lines_of(outcome)) == {2}
    assert len(outcome.failure.frames) <= 30


def test_a_long_message_under_a_small_output_limit_is_still_an_exception(call: Run) -> None:
    tight = Limits(wall_s=30, cpu_s=30, output_mb=0.01)
    (outcome,) = call("def f(): raise ValueError('\U0001f600' * 2000)", limits=tight)
    assert outcome.status is Status.RAISED


def test_lines_are_counted_as_python_counts_them(call: Run) -> None:
    source = "text = 'a\x0cb\u2028c'\n\x0c\ndef f():\n    raise ValueError\n"
    (outcome,) = call(source)
    assert [(frame.line, frame.text) for frame in outcome.failure.frames] == [(4, "raise ValueError")]


def test_any_exception_of_a_call_is_an_exception(call: Run) -> None:
    for name in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"):
        first, second = call(f"def f(x):\n    if x: raise {name}\n    return x", [1], [0])
        assert (first.status, first.failure and first.failure.type) == (Status.RAISED, name)
        assert (second.status, second.value) == (Status.ANSWERED, 0)


def test_an_exception_after_correct_output_is_an_exception(program: Run, call: Run) -> None:
    (called,) = call("def f():\n    print('last words')\n    raise ValueError")
    assert called.stdout.text() == "last words\n"
    (outcome,) = program("print(42)\nraise ValueError('late')")
    assert (outcome.status, outcome.stdout.text(), outcome.exit_status) == (Status.RAISED, "42\n", 1)
    assert outcome.stderr.text().splitlines()[-1] == "ValueError: late"


# ---- compiling and loading


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("x = 1\ndef f(:\n    pass\n", "SyntaxError", 2),
        ("def f(): return 'a\x00b'", "ValueError", None),
        ("x = '\ud800'", "UnicodeEncodeError", None),
        ("(" * 1000 + ")" * 1000, "SyntaxError", 1),
    ],
)
def test_code_that_does_not_compile(call: Run, program: Run, source: str, kind: str, line: int | None) -> None:
    for outcome in (*call(source, [], []), *program(source, b"", b"")):
        assert outcome.status is Status.NOT_LOADED
        assert outcome.failure.type in (kind, "ValueError", "SyntaxError")
        assert outcome.failure.line == line or (kind == "ValueError" and outcome.failure.type == "SyntaxError")


@pytest.mark.parametrize("source", ["-" * 200_000 + "1", "x = " + "[" * 150 + "]" * 150])
def test_code_that_is_hard_to_compile_is_not_our_fault(program: Run, source: str) -> None:
    (outcome,) = program(source)
    assert outcome.status in (Status.NOT_LOADED, Status.RAISED, Status.ANSWERED)


def test_a_name_of_a_million_characters_in_a_syntax_error(call: Run) -> None:
    (outcome,) = call(f"def f({'a' * 1_000_000}):\n    global {'a' * 1_000_000}\n")
    assert (outcome.status, outcome.failure is not None) == (Status.NOT_LOADED, True)
    assert len(repr(outcome.failure)) < 5000


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("import sys\nsys.exit(0)\ndef f(): return 1", "SystemExit", 2),
        ("def f(): return 1\n1 / 0", "ZeroDivisionError", 2),
        ("import no_such_module\n", "ModuleNotFoundError", 1),
    ],
)
def test_code_that_raises_while_it_is_loaded(call: Run, source: str, kind: str, line: int) -> None:
    for outcome in call(source, [], []):
        assert outcome.status is Status.NOT_LOADED
        assert (outcome.failure.type, outcome.failure.line) == (kind, line)


# ---- ends of the process


def test_os_exit(call: Run, program: Run) -> None:
    (ran,) = program("import os\nprint('lost')\nos.write(1, b'kept')\nos._exit(4)")
    assert (ran.status, ran.exit_status, ran.stdout.text()) == (Status.ANSWERED, 4, "kept")
    first, second = call("import os\ndef f(x):\n    if x: os._exit(0)\n    return x", [1], [0])
    assert (first.status, first.exit_status) == (Status.DIED, 0)
    assert (second.status, second.value) == (Status.ANSWERED, 0)


@pytest.mark.parametrize(
    ("statement", "signal"),
    [
        ("os.kill(os.getpid(), 9)", -9),
        ("ctypes.string_at(0)", -11),
    ],
)
def test_a_signal_ends_it(call: Run, program: Run, statement: str, signal: int) -> None:
    (ran,) = program(f"import os, ctypes\n{statement}")
    (called,) = call(f"import os, ctypes\ndef f():\n    {statement}")
    for outcome in (ran, called):
        assert (outcome.status, outcome.exit_status) == (Status.DIED, signal)
        assert "ended by SIG" in outcome.message


# ---- streams of calls


def test_streams_are_captured_for_each_test_case(call: Run) -> None:
    source = "import sys\nprint('loading')\ndef f(x):\n    print('out', x)\n    print('err', x, file=sys.stderr)"
    first, second = call(source, [1], [2])
    assert (first.stdout.text(), first.stderr.text()) == ("loading\nout 1\n", "err 1\n")
    assert (second.stdout.text(), second.stderr.text()) == ("out 2\n", "err 2\n")


@pytest.mark.parametrize("statement", ["sys.stdout.close()", "sys.stdout = None", "os.close(1)", "sys.stdout.detach()"])
def test_a_call_may_remove_stdout(call: Run, statement: str) -> None:
    first, second = call(f"import io, os, sys\ndef f(x):\n    if x: {statement}\n    return x", [1], [0])
    assert [(o.status, o.value) for o in (first, second)] == [(Status.ANSWERED, 1), (Status.ANSWERED, 0)]


def test_invalid_bytes_are_shown_as_escapes(program: Run) -> None:
    (outcome,) = program(r"import sys; sys.stdout.buffer.write(b'a\xffb')")
    assert (outcome.stdout.data, outcome.stdout.text()) == (b"a\xffb", "a\\xffb")


# ---- depth


def test_deep_recursion_on_the_main_thread(program: Run, call: Run) -> None:
    body = "import sys\nsys.setrecursionlimit(10**6)\ndef g(n): return 0 if n == 0 else 1 + g(n - 1)\n"
    (ran,) = program(body + "print(g(200_000))")
    (called,) = call(body + "def f(): return max(g(100_000), max([1], key=lambda _: g(20_000)))")
    assert (ran.stdout.text(), called.value) == ("200000\n", 100_000)


# ---- nothing stays behind


def test_no_descriptor_is_left_open(sandbox: Sandbox, call: Run, program: Run) -> None:
    def work() -> None:
        call("def f(x):\n    if x: raise ValueError\n    return x", [0], [1])
        call("def f(:")
        program("import os\nos._exit(1)", b"", b"")
        program("while True: pass", limits=HASTY)
        program("import os\nos.write(3, b'x' * 100)")

    work()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        work()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


class Gone:
    """A forker whose other side is closed."""

    folder = memory = priority = None

    def fork(self, descriptors: Sequence[int]) -> None:
        raise BrokenPipeError

    def kill_child(self) -> None:
        raise BrokenPipeError

    def await_end(self, watch: object) -> Ended:
        raise EOFError


def test_a_process_that_can_not_start_leaves_nothing_open() -> None:
    gc.collect()  # what other tests have left
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(BrokenPipeError):
            Child.started(Gone(), b"1")
        gc.collect()
    assert [str(each.message) for each in caught] == []
