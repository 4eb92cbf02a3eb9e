"""A header of imports before a stdin program: it changes nothing that a test case sees, and needs no process."""

from __future__ import annotations

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Sandbox
from evaluator.sandbox.preambles import header_of
from tests.sandbox.conftest import PATIENT
from tests.sandbox.headers import HEADER
from tests.sandbox.programs_that_leave_something import PROGRAMS
from tests.sandbox.programs_under_a_header import NOT_SHARED, SHARED

INPUTS = [b"first\n", b"second\n", b"third\n"]


def run(sandbox: Sandbox, source: str, preamble: str, *, reuse: bool) -> tuple[list[Outcome], bool]:
    """The outcome of each input; whether all ran in one process."""
    with sandbox.execute(Program(source, None, preamble), PATIENT, reuse=reuse) as execution:
        outcomes, kept = [], []
        for given in INPUTS:
            outcomes.append(execution.run(given, wall_s=30))
            kept.append(execution.begun)
    return outcomes, all(kept)


def reported(outcomes: list[Outcome]) -> list[tuple[object, ...]]:
    return [
        (each.status, each.exit_status, each.stdout.data, each.stderr.data, each.failure, each.message)
        for each in outcomes
    ]


@pytest.mark.parametrize("name", SHARED | NOT_SHARED)
def test_each_test_case_behaves_as_in_its_own_process(sandbox: Sandbox, name: str) -> None:
    source = (SHARED | NOT_SHARED)[name]
    outcomes, shared = run(sandbox, source, HEADER, reuse=True)
    apart, _ = run(sandbox, source, HEADER, reuse=False)
    assert reported(outcomes) == reported(apart)
    assert shared == (name in SHARED)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_leave_something_leave_nothing_under_a_header(namespaces: Sandbox, name: str) -> None:
    outcomes, _ = run(namespaces, PROGRAMS[name], HEADER, reuse=True)
    apart, _ = run(namespaces, PROGRAMS[name], HEADER, reuse=False)
    assert reported(outcomes) == reported(apart)


PREAMBLES: dict[str, tuple[str, bool]] = {
    "none": ("", True),
    "imports": (
        "import math, os.path\nimport collections as c\nfrom heapq import *\nfrom typing import List as L",
        True,
    ),
    "constants": ('"""Text."""\nINF = -10**18 + 1\nname = other = ("a", float("inf"), int("1" * 3))\npass', True),
    "limits": ("import sys\nfrom sys import *\nsys.setrecursionlimit(10**6)\nset_int_max_str_digits(0)", True),
    "one that has to be loaded": ("import colorsys", False),
    "one that is not there": ("import no_such_module", False),
    "a name that is not there": ("from math import no_such_name", False),
    "one that writes when it is loaded": ("import this", False),
    "a list": ("seen = []", False),
    "a function": ("def f(): return 1", False),
    "an alias": ("read = input", False),
    "a call": ("print(1)", False),
    "a condition": ("try:\n    import math\nexcept ImportError:\n    pass", False),
    "an attribute": ("import math\nmath.pi = 3", False),
    "several names": ("A, B = 1, 2", False),
    "its own main": ("import __main__", False),
    "names of the interpreter's": ("__name__ = 'x'\nimport math as __builtins__", False),
    "more recursion than there may be": ("import sys\nsys.setrecursionlimit(10**100)", False),
    "not Python": ("import", False),
}


@pytest.mark.parametrize("name", PREAMBLES)
def test_only_a_header_is_shared_and_each_preamble_works(sandbox: Sandbox, name: str) -> None:
    preamble, expected = PREAMBLES[name]
    outcomes, shared = run(sandbox, "print(input())", preamble, reuse=True)
    apart, _ = run(sandbox, "print(input())", preamble, reuse=False)
    assert reported(outcomes) == reported(apart)
    assert shared == expected


def test_a_module_that_may_not_be_harmless_costs_a_process_if_it_is_used(
    sandbox: Sandbox,
) -> None:
    header = "import signal\nfrom signal import *\n"
    assert run(sandbox, "print(input())", header, reuse=True)[1]
    assert not run(sandbox, "print(input(), signal.SIGTERM)", header, reuse=True)[1]
    assert not run(sandbox, "print(input(), Signals)", header, reuse=True)[1]


def test_a_deep_syntax_tree_is_not_a_header() -> None:
    assert header_of("x = " + "-" * 100_000 + "1") is None


def test_one_test_case_alone_runs_the_preamble(sandbox: Sandbox) -> None:
    with sandbox.execute(Program("print(inf, input())", None, HEADER), Limits(), several=False) as execution:
        assert execution.run(b"alone\n", wall_s=30).stdout.text() == "inf alone\n"
