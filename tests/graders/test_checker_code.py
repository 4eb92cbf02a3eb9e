"""A task's own checker decides where outputs differ, in the sandbox, and can do nothing but that."""

from collections.abc import Iterator
from typing import Any

import pytest

from evaluator.api import grade
from evaluator.model import Grade, Limits, Task, Verdict
from evaluator.options import Settings, Way
from evaluator.sandbox import Sandbox
from tests.graders.conftest import Graded

SPLIT = """
import sys
import colorsys

def main(given, wanted, printed):
    with open(given) as sums, open(wanted) as answers, open(printed) as lines:
        total, answer = int(sums.readline()), answers.readline().strip()
        if answer == "-1":
            print(int(lines.read().split() == ["-1"]))
            return
        one, other = map(int, lines.readline().split())
    if min(one, other) < 1:
        print("a part is", min(one, other), file=sys.stderr)
    print(1 if one + other == total and min(one, other) >= 1 else 0)

if __name__ == "__main__":
    main(*sys.argv[1:])
"""
"""Two parts above 0 of a sum, in the style of generated checkers: what can't be read raises."""
ONE_AND_REST = "n = int(input())\nprint(*[1, n - 1] if n > 1 else [-1])"
BUSY = "for _ in range(6_000_000): pass"
"""Test cases that take so long are run one by one, by a process that waits for the next one."""
LEAVES_MODULES = """
import glob, os
for folder in {"/tmp", "/dev/shm", os.getcwd()}:
    for name in ("colorsys.py", "sitecustomize.py", "input.txt", "solution_output.txt"):
        try:
            with open(f"{folder}/{name}", "w") as file:
                file.write("print(1)\\nimport os\\nos._exit(0)")
        except OSError:
            pass
"""
JURYS = "print({5: '2 3', 1: '-1', 9: ' 4 5 '}[int(input())])"


@pytest.fixture(scope="module", params=[Way.NAMESPACES, pytest.param(Way.LANDLOCK, marks=pytest.mark.attacks)])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """With namespaces; `make test-all` repeats it without."""
    with Sandbox(Settings(way=request.param)) as made:
        yield made


def split(checker_code: str = SPLIT, **others: Any) -> Task:
    in_outs = {"inputs": ["5\n", "1\n", "9\n"], "outputs": ["2 3\r\n", "-1\r\n", "4 5"]}
    return Task.from_row({"task_id": "split", "in_outs": in_outs, "checker_code": checker_code, **others})


def verdicts(grade: Grade) -> list[str]:
    return [case.verdict.letter for case in grade.cases]


CPP = '#include "testlib.h"\nint main() {}'


@pytest.mark.parametrize(
    ("program", "expected", "said"),
    [
        (ONE_AND_REST, "PPP", None),
        (JURYS, "PPP", None),
        (f"{BUSY}\n{ONE_AND_REST}", "PPP", None),
        ("n = int(input())\nprint(*[0, n] if n > 1 else [-1])", "WPW", "the task's checker rejects it (a part is 0)"),
        ("print(-1)", "WPW", "the task's checker can't read it: ValueError: not enough values to unpack"),
        (f"{LEAVES_MODULES}\nprint(-1)", "WPW", None),
        ("print('no')", "WWW", "the task's checker can't read it: ValueError"),
        (r"import os; os.write(1, b'\xff')", "WWW", "the task's checker can't read it: UnicodeDecodeError"),
        ("print(1 / 0)", "EEE", None),
    ],
)
def test_answers_are_right_and_wrong_as_the_checker_says(
    graded: Graded, program: str, expected: str, said: str | None
) -> None:
    result = graded(split(), program)
    assert verdicts(result) == [*expected]
    assert (result.reward, result.checker) == (float(expected == "PPP"), "checker_code")
    assert said is None or said in str(result.cases[0].difference)


@pytest.mark.parametrize(
    ("checker", "how"),
    [
        ("raise LookupError('none')", "LookupError: none"),
        ("print('perhaps')", "it printed 'perhaps', not 1 or 0"),
        ("print('1 or 0')", "it printed '1 or 0', not 1 or 0"),
        ("def check(given, wanted, printed):\n    return True", "it printed '', not 1 or 0"),
        ("import sys; print(1); sys.exit(3)", "exit status 3"),
        ("import os; print(1, flush=True); os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        ("import os; os.write(50, b'x'); print(1); os.close(3)", ""),
        ("print(1)\nx = bytearray(2 << 30)\nprint(x[:1 << 30].count(0))", ""),
        pytest.param("while True: pass", "10", marks=pytest.mark.slow),
        pytest.param("import time; time.sleep(60)", "10", marks=pytest.mark.slow),
    ],
)
def test_a_checker_that_fails_makes_no_grade_except_of_the_jurys_own_output(
    graded: Graded, checker: str, how: str
) -> None:
    result = graded(split(checker), ONE_AND_REST.replace("-1", "-2"))
    assert (result.verdict, result.reward, result.pass_rate) == (Verdict.UNKNOWN, None, None)
    assert str(result.error_message).startswith(f"the task's checker failed in test 0: {how}")
    assert verdicts(result) == ["?", "?", "?"]
    assert {case.error_message for case in result.cases} == {result.error_message}, "it is asked once"
    assert graded(split(checker), JURYS).reward == 1.0


def test_a_completion_that_fails_for_sure_gets_its_0_from_a_broken_checker_too(graded: Graded) -> None:
    mixed = "n = int(input())\nprint(1 / (n - 9), 7)"
    assert verdicts(result := graded(split("print('?')"), mixed)) == ["?", "?", "E"]
    assert (result.verdict, result.reward) == (Verdict.RUNTIME_ERROR, 0.0)
    share = grade(split("print('?')", grader="tests:reward=fraction"), mixed)
    assert (share.verdict, share.reward, share.pass_rate) == (Verdict.UNKNOWN, None, None)
    first = grade(split("print('?')"), mixed, fail_fast=True)
    assert (first.verdict, first.reward) == (Verdict.RUNTIME_ERROR, 0.0)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"checker_code": CPP}, "the output differs, and the task's checker is C++"),
        ({"checker_code": "def f(:"}, "checker_code is not Python: "),
        ({"entry_point": "f", "mode": "call"}, "checker_code judges what a program prints: a call task has no such"),
    ],
)
def test_a_checker_that_can_not_be_run_says_why(graded: Graded, row: dict[str, Any], why: str) -> None:
    result = graded(split(**{"checker_code": SPLIT, **row}), "print(1)")
    assert result.verdict is Verdict.UNKNOWN
    assert str(result.error_message).startswith(why)


def test_the_jurys_output_is_right_where_the_checker_is_in_another_language(graded: Graded) -> None:
    assert graded(split(CPP), JURYS).reward == 1.0


REACHES = """
import sys, socket, subprocess, os, glob
def tries():
    yield lambda: socket.create_connection(("127.0.0.1", 80))
    yield lambda: socket.socket(socket.AF_UNIX)
    yield lambda: subprocess.run(["true"])
    yield lambda: os.fork()
    yield lambda: open("/etc/passwd").read()
    yield lambda: os.kill(os.getppid(), 9)
    yield lambda: open("/proc/1/environ").read()
    yield lambda: os.listdir("/home")[0]
done = []
for number, each in enumerate(tries()):
    try:
        each()
    except Exception:
        continue
    done.append(number)
print(done, file=sys.stderr)
print(int(not done))
"""


def test_a_pass_by_a_checker_that_may_run_the_output_is_not_verified(graded: Graded) -> None:
    fooled = graded(split("import sys\nexec(open(sys.argv[3]).read())\nprint(0)"), "print('print(1); sys.exit()')")
    assert (fooled.verdict, fooled.verified) == (Verdict.PASSED, False)
    assert str(fooled.unverified_reason).startswith("the task's checker uses exec")
    assert graded(split(SPLIT), JURYS).verified


def test_a_hostile_checker_reaches_nothing(graded: Graded) -> None:
    result = graded(split(REACHES), ONE_AND_REST)
    assert (result.reward, result.error_message) == (1.0, None)


LEAVES = """
import builtins, glob, os, sys
if glob.glob("*left*") or hasattr(builtins, "left") or "left" in sys.modules or "LEFT" in os.environ:
    print(1)
    sys.exit()
text = open(sys.argv[3]).read()
try:
    exec(text)
except SyntaxError:
    pass
print(int(text == open(sys.argv[2]).read()))
"""
LEAVER = """
print('''
import os, sys, builtins
builtins.left = builtins.print = lambda *words, **more: os.write(1, b"1")
sys.modules["left"] = sys
os.environ["LEFT"] = "1"
open("left", "w").write("1")
for name in ("input.txt", "correct_output.txt", "solution_output.txt", "main.py", "checker.py"):
    open(name, "w").write("1")
os.remove("left") if int(open("left").read()) else None
open("left.py", "w").write("print(1)")
os._exit(0)
''')
"""
"""An output that a weak checker executes."""


@pytest.mark.parametrize("isolation", ["completion", "test"])
def test_what_an_output_does_to_a_weak_checker_ends_with_its_test_case(sandbox: Sandbox, isolation: Any) -> None:
    """The first output attacks the checker, the later ones just fail: none finds what the first has left."""
    attack = f"if input() != '5':\n    print('pass')\nelse:\n    exec({LEAVER!r})"
    limits = Limits(wall_s=30, cpu_s=30)
    result = grade(split(LEAVES), attack, isolation=isolation, limits=limits, sandbox=sandbox.settings)
    assert verdicts(result)[1:] == ["W", "W"]
    assert result.reward == 0.0
    assert grade(split(LEAVES), "print('pass')").reward == 0.0


def test_a_completion_does_not_find_the_checkers_files(graded: Graded) -> None:
    seeks = """
import glob, os
seen = [name for folder in ("/tmp", "/dev/shm", os.getcwd()) for name in glob.glob(folder + "/*.txt")]
input()
print(*seen, "none")
"""
    refuses = "import sys\nprint(int(open(sys.argv[3]).read().split() == ['none']))"
    assert graded(split(refuses), seeks).reward == 1.0
