"""A process for each test case of a program; none affects another."""

import pytest

from evaluator.sandbox import Program, Sandbox, Status
from tests.sandbox.conftest import PATIENT, Run

NUMBER = "import os\nprint(input(), os.getpid(), os.getppid())"


def test_each_test_case_has_its_own_process(program: Run) -> None:
    words = [outcome.stdout.text().split() for outcome in program(NUMBER, b"a", b"b", b"c", reuse=False)]
    assert [word for word, _, _ in words] == ["a", "b", "c"]
    assert len({own for _, own, _ in words}) == 3
    assert len({parent for _, _, parent in words}) == 1


BETWEEN = {
    "a file": "open('left', 'a').write('x'); print(len(open('left').read()))",
    "a file in shared memory": "print(os.access('/dev/shm/left', os.F_OK), flush=True); open('/dev/shm/left', 'a')",
    "its own source": "print(len(open('main.py').read())); open('main.py', 'a').write('# x')",
    "a folder that can't be read": "os.makedirs('a/b'); print(os.listdir('a')); os.chmod('.', 0)",
    "a folder": "print(os.getcwd()); os.chdir('/usr')",
}


@pytest.mark.parametrize("what", BETWEEN)
def test_nothing_is_passed_from_one_test_case_to_the_next(program: Run, what: str) -> None:
    source = f"import os, resource, signal, threading\n{BETWEEN[what]}\n"
    first, *others = [outcome.stdout.text() for outcome in program(source, b"", b"", b"", reuse=False)]
    assert first
    assert others == [first, first]


ATTACKS = {
    "writes to its parent's memory": "open(f'/proc/{os.getppid()}/mem', 'r+b'); print('got it')",
    "reports that it has ended": "os.write(3, b'\\0\\0\\0\\x03E{}'); print(1)",
}


@pytest.mark.parametrize("what", ATTACKS)
def test_an_attack_harms_only_its_own_test_case(sandbox: Sandbox, what: str) -> None:
    source = f"import os, signal\nif input() == 'attack':\n    {ATTACKS[what]}\nelse:\n    print('honest')\n"
    times = {b"a": 30, b"attack": 0.5, b"b": 30, b"c": 30}
    with sandbox.execute(Program(source), PATIENT, reuse=False) as execution:
        before, attack, after, last = [execution.run(given, wall_s=wall_s) for given, wall_s in times.items()]
    assert [outcome.stdout.text() for outcome in (before, after, last)] == ["honest\n"] * 3
    assert "got it" not in attack.stdout.text()


def test_a_time_out_has_a_line(sandbox: Sandbox) -> None:
    with sandbox.execute(Program("if input() == 'x':\n    while True: pass"), PATIENT, reuse=False) as execution:
        _, late, after = [execution.run(given, wall_s=s) for given, s in ((b"a", 30), (b"x", 0.5), (b"b", 30))]
    assert late.status is Status.TIME
    assert late.failure.frames[-1].line == 2
    assert after.status is Status.ANSWERED


def test_a_program_that_does_not_compile_is_reported_each_time(program: Run) -> None:
    outcomes = program("print(", b"a", b"b", reuse=False)
    assert [outcome.status for outcome in outcomes] == [Status.NOT_LOADED] * 2
