"""`run_test` as a trainer calls it: often, from threads and tasks, and with completions that cheat."""

import math
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from evaluator.interop.colossalai import (
    CODE_TYPE,
    Capturing,
    InOutsError,
    call_method,
    check_correctness,
    clean_traceback,
    custom_compare_,
    run_test,
    strict_compat,
    stripped_string_compare,
    truncatefn,
)
from evaluator.workers import pool
from evaluator.workers.worker_count import worker_count
from tests.waiting import HANG_S, wait_until
from tests.workers import processes

ADD = {"fn_name": "add", "inputs": ["1\n2", "3\n4"], "outputs": ["3", "7"]}
SQUARE = {"inputs": ["5", "6"], "outputs": ["25", "36"]}


KINDS: list[tuple[str, list[object]]] = [
    ("def add(a, b): return a + b", [True, True]),
    ("def add(a, b): return 3", [True, False]),
    ("def add(a, b): return a / 0", [-1]),
    ("def add(a, b) return a", [-2]),
    ("def sub(a, b): return a", [-2]),
    ("class Solution:\n    def add(self, a, b): return a + b", [True, True]),
    ("def add(a, b): return {a}", [-1]),
    ("import os\ndef add(a, b): os._exit(0)", [-1]),
]


def one(number: int) -> list[object]:
    """The results of a completion that is not any other's, of these kinds."""
    return list(run_test(ADD, test=f"{KINDS[number % 8][0]}\n# {number}", timeout=60)[0])


@pytest.mark.slow
def test_many_completions_in_a_row_and_in_threads_leave_nothing_behind() -> None:
    processes.set_apart()
    one(0)
    right = [results for _, results in KINDS]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(one, range(16)))
        files = processes.descriptors()
        assert [one(number) for number in range(16)] == right * 2
        assert list(threads.map(one, range(48))) == right * 6
    most = 4 * worker_count()  # a few each; fewer while other processes of this user grade, too
    wait_until(lambda: len(processes.sandboxes()) <= most, "sandboxes are left")
    wait_until(lambda: processes.descriptors() <= files + most, "files are still open")


EXPLOITS = {
    "reads the caller's frames": """
        import sys
        def f(n):
            frame = sys._getframe()
            while frame:
                for value in frame.f_locals.values():
                    if isinstance(value, dict) and "outputs" in value:
                        return value["outputs"][0]
                frame = frame.f_back
    """,
    "is equal to everything": """
        class Sly(int):
            def __eq__(self, other): return True
        def f(n): return Sly(1)
    """,
    "is a list that is equal to everything": """
        class Sly(list):
            def __eq__(self, other): return True
        def f(n): return Sly([0])
    """,
    "gives the first of several answers": "def f(n): return 42",
}


@pytest.mark.parametrize("name", EXPLOITS)
def test_no_exploit_pays(name: str) -> None:
    outputs = ["[42, 43, 44]"] if name == "gives the first of several answers" else ["42"]
    in_outs = {"fn_name": "f", "inputs": ["0"], "outputs": outputs}
    results, info = run_test(in_outs, test=textwrap.dedent(EXPLOITS[name]), timeout=2)
    assert results in ([False], [-1])
    assert info


def test_a_function_of_the_preamble_does_not_answer_for_a_missing_one() -> None:
    for name, module, value, inputs in (("gcd", "math", 1, "1\n1"), ("add", "operator", 2, "1\n1")):
        in_outs = {"fn_name": name, "inputs": [inputs], "outputs": [str(value)]}
        assert run_test(in_outs, test="pass")[0] == [-2]
        assert run_test(in_outs, test=f"from {module} import {name}")[0] == [True]
        with strict_compat():
            assert run_test(in_outs, test="pass") == ([True], {})


def test_a_time_out_costs_one_test_and_the_next_ones_run_on_where_they_may() -> None:
    code = "import time\ndef add(a, b):\n    if a == 1: time.sleep(600)\n    return a + b"
    in_outs = {"fn_name": "add", "inputs": ["3\n4", "1\n2", "3\n4"], "outputs": ["7", "3", "7"]}
    results, info = run_test(in_outs, test=code, timeout=2)
    assert results == [True, -1]
    assert info["error"].startswith("TimeoutError(")
    assert run_test(in_outs, test=code, timeout=2, run_all_tests=True) == ([True, -1, True], {})


def test_what_ends_a_test_is_named() -> None:
    for ends, told in (
        ("return 'x' * 10_000_000", "OverflowError("),
        ("return [0] * 10**11", "MemoryError("),
        ("raise SystemExit(3)", "SystemExit(3)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt()"),
        ("raise type('E', (Exception,), {'__repr__': lambda self: 1 / 0})", "E()"),
    ):
        results, info = run_test(ADD, test=f"def add(a, b): {ends}")
        assert (results, info["error"].startswith(told)) == ([-1], True), info


def test_test_cases_that_can_not_be_used_are_told_in_one_line() -> None:
    unusable: list[tuple[Any, str, type[Exception]]] = [
        ({"fn_name": "f", "inputs": ["1", "x"], "outputs": ["1", "1"]}, r"inputs\[1\], line 1 is not JSON", ValueError),
        ({"fn_name": "f", "inputs": ["1"], "outputs": ["x"]}, r"outputs\[0\] is not JSON", ValueError),
        ({"fn_name": "f", "inputs": ["1", "1"], "outputs": ["1"]}, "2 inputs but 1 outputs", IndexError),
        ({"fn_name": "f", "outputs": ["1"]}, "inputs is missing", KeyError),
        ({"inputs": [1], "outputs": ["1"]}, r"inputs\[0\] is int, not text", AssertionError),
        (None, "in_outs is empty", UnboundLocalError),
        ('{"inputs": []}', "in_outs must be an object", AttributeError),
    ]
    for in_outs, told, original in unusable:
        code = "def f(n): return n" if in_outs is not None and "fn_name" in in_outs else "print(1)"
        with pytest.raises(InOutsError, match=told) as raised:
            run_test(in_outs, test=code)
        assert "\n" not in str(raised.value)
        with strict_compat(), pytest.raises(original):
            run_test(in_outs, test=code)


@pytest.mark.parametrize("call", [run_test, check_correctness])
def test_a_time_out_that_is_none_is_told_and_costs_no_completion(call: Callable[..., Any]) -> None:
    for timeout in (-1, math.inf, math.nan, "2"):
        with pytest.raises(ValueError, match="give seconds, or 0 for none"):
            call(ADD, "def add(a, b): return a + b", timeout=timeout)


@pytest.mark.parametrize("call", [run_test, pytest.param(check_correctness, marks=pytest.mark.slow)])
def test_a_fault_of_the_sandbox_is_told_apart(call: Callable[..., Any]) -> None:
    """The interpreter from which the completion's process was forked is killed, each time that there is one."""
    pool.close()  # other tests may have set apart those that are warm
    right = "def add(a, b): return a + b"
    assert run_test(ADD, test=right) == ([True, True], {})
    with processes.killing(processes.busy_zygotes, 1000):
        results, told = call(ADD, "import time\ndef add(a, b):\n    time.sleep(600)", timeout=HANG_S)
    info = told[0] if isinstance(told, list) else told
    assert results == ([-1] if call is run_test else [-1, -1])
    assert (info["error"], bool(info["error_message"])) == ("sandbox", True)
    assert run_test(ADD, test=right)[0] == [True, True]


def test_check_correctness_answers_as_the_original() -> None:
    for in_outs in (None, {}, {"outputs": ["1"]}, {"inputs": 1}):
        with pytest.raises(InOutsError, match="in_outs has no list of inputs"):
            check_correctness(in_outs, "x")  # type: ignore[arg-type]
    assert check_correctness(ADD, "def add(a, b): return a + b") == ([True, True], [{}])
    assert check_correctness({**ADD, "inputs": ["x", "1\n2"]}, "def add(a, b): return 3") == ([-1, -1], [{}])
    results, metadata = check_correctness(ADD, "def add(a, b): raise SystemExit")
    assert (results, metadata[0]["error"]) == ([-1], "SystemExit()")
    with strict_compat():
        assert check_correctness(ADD, "def add(a, b): raise SystemExit") == ([-1, -1], [])
        assert check_correctness(ADD, "import time\ndef add(a, b):\n    time.sleep(600)", timeout=1) == ([-1, -1], [])


def test_what_the_verifiers_script_passes_beside_is_taken() -> None:
    """It passes `eval_mode`, which the original's function does not know."""
    in_outs, code = {"inputs": ["1"], "outputs": ["2"]}, "print(int(input()) + 1)"
    more: dict[str, Any] = {"timeout": 60, "debug": False, "eval_mode": True}
    assert check_correctness(in_outs=in_outs, generation=code, **more) == ([True], [{}])
    assert run_test(in_outs, test=code, **more) == ([True], {})


def test_the_small_functions_do_as_the_original() -> None:
    assert truncatefn("x" * 300) == "x" * 300
    assert truncatefn("abcdefghijk", 4) == "ab...(truncated) ...jk"
    assert truncatefn("abcdefghijk", 5) == "ab...(truncated) ...ijk"
    assert clean_traceback('one\n  File "<string>", line 2\nE: x') == (
        'Traceback (most recent call last):\n  File "<string>", line 2\nE: x'
    )
    assert clean_traceback("nothing\n") == "Traceback (most recent call last):\n  \n"
    assert stripped_string_compare(" a\n", "a")
    assert custom_compare_(["a ", "b"], "a\nb")
    assert not custom_compare_("a\nb", "a\nb")
    assert call_method(lambda: sys.stdin.read() + open("x").read(), ["a", "b"]) == "a\nba\nb"  # noqa: PTH123, SIM115
    assert call_method(lambda: sys.exit(3), "") is None
    with Capturing() as lines:
        print("a\nb")
    assert lines == ["a\nb\n"]
    assert [kind.value for kind in CODE_TYPE] == [0, 1]


GUARDED = """
import os, shutil, subprocess, sys
from evaluator.interop.colossalai import reliability_guard, run_test
reliability_guard()
reliability_guard(8 << 30)
assert os.kill is os.system is os.unlink is shutil.rmtree is subprocess.Popen is exit is None
try:
    import psutil
except ImportError:
    pass
else:
    raise SystemExit("psutil can be imported")
in_outs = {"fn_name": "add", "inputs": ["1\\n2"], "outputs": ["3"]}
print(run_test(in_outs, test="def add(a, b): return a + b"), run_test(in_outs, test="def add(a, b): exit()")[0])
assert os.kill is subprocess.Popen is None
"""


def test_the_guard_patches_the_process_and_grading_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("([True], {}) [-1]\n", "", 0)


NAMES = (
    "os.kill os.system os.putenv os.remove os.removedirs os.rmdir os.fchdir os.setuid os.fork os.forkpty os.killpg "
    "os.rename os.renames os.truncate os.replace os.unlink os.fchmod os.fchown os.chmod os.chown os.chroot "
    "os.getcwd os.chdir shutil.rmtree shutil.move shutil.chown subprocess.Popen builtins.exit builtins.quit "
    "builtins.help"
).split()


def test_names_that_the_guard_takes_are_taken_from_completions_each_time() -> None:
    code = f"""
import builtins, os, shutil, subprocess
def add(a, b):
    try:
        import psutil
    except ImportError:
        return [name for name in {NAMES} if eval(name) is not None]
"""
    in_outs = {"fn_name": "add", "inputs": ["1\n2", "3\n4"], "outputs": ["[]", "[]"]}
    assert run_test(in_outs, test=code) == ([True, True], {})


def test_programs_that_read_stdin_see_what_they_saw() -> None:
    assert run_test(SQUARE, test="n = int(input())\nprint(n * n)") == ([True, True], {})
    assert run_test(SQUARE, test="print(open('data.txt').read())")[0] == [-1]
    one = {"inputs": ["5"], "outputs": ["5"]}
    assert run_test(one, test="import builtins\nprint(builtins.open('x').read())")[0] == [True]
