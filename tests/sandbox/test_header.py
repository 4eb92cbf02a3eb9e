"""A header of imports before a stdin program: it changes nothing that a test case sees, and needs no process."""

# ruff: noqa: E501 - a line a program

import pytest

from evaluator.model import Limits
from evaluator.sandbox import Outcome, Program, Sandbox
from evaluator.sandbox.host.program import header_of
from tests.sandbox.conftest import PATIENT
from tests.sandbox.headers import HEADER

INPUTS = [b"first\n", b"second\n", b"third\n"]


def run(sandbox: Sandbox, source: str, preamble: str, *, reuse: bool) -> tuple[list[Outcome], bool]:
    """The outcome of each input; whether all ran in one process."""
    with sandbox.execute(Program(source, None, preamble), PATIENT, reuse=reuse) as execution:
        outcomes, kept = [], []
        for given in INPUTS:
            outcomes.append(execution.run(given, wall_s=30))
            kept.append(execution.begun)
    return outcomes, all(kept)


def assert_alike(sandbox: Sandbox, source: str, preamble: str, *, shared: bool) -> None:
    """Whether its runs share a process or not, what is reported is what runs in processes of their own report."""
    outcomes, kept = run(sandbox, source, preamble, reuse=True)
    apart, _ = run(sandbox, source, preamble, reuse=False)
    told, expected = (
        [
            (each.status, each.exit_status, each.stdout.data, each.stderr.data, each.failure, each.message)
            for each in ran
        ]
        for ran in (outcomes, apart)
    )
    assert told == expected
    assert kept is shared


SHARED: dict[str, str] = {
    "nothing of it": "print(len(input()))",
    "names that it does not import itself": (
        "heap = [3, 1]\nheapify(heap)\nseen = defaultdict(list)\nseen[input()].append(gcd(12, 18))\n"
        "x: List[int] = [sqrt(16), inf, MOD]\nprint(heap, dict(seen), x, Counter('aab').most_common(1))"
    ),
    "the recursion limit": "print(input(), sys.getrecursionlimit())\nsetrecursionlimit(5000)\nprint(getrecursionlimit())",
    "a name deleted": "print(input(), List[int])\ndel List\ntry: List\nexcept NameError as error: print(error)",
    "a builtin wrapped": "def print(*values, real=print): real('mine', *values)\nprint(input())",
    "stdin": "print(repr(stdin.readline()), stdin is sys.stdin, stdin.name)\nstdout.write('by stdout\\n')\nstderr.write('told\\n')",
    "stdin replaced": "sys.stdin = io.StringIO('from memory')\nprint(input(), repr(stdin.readline()), stdin is sys.stdin)",
    "stdout replaced": "sys.stdout = StringIO()\nprint('kept', input())\nstdout.write(sys.stdout.getvalue())",
    "the import path": "print(input(), 'mine' in path)\npath.append('mine')\nsys.path.insert(0, 'also mine')",
    "the arguments": "argv.append(input())\nprint(argv, sys.argv is argv)",
    "random numbers": "print(input(), randint(1, 10 ** 9), random.random() if hasattr(random, 'random') else random())\nseed(7)",
    "a name that only a text has": (
        "from typing import get_type_hints as hints_of, get_type_hints\n"
        "def f(x: 'List[int]', y: 'typing.Deque') -> 'Counter': pass\nprint(input(), hints_of(f))"
    ),
    "a field that only a text says is none": (
        "from dataclasses import dataclass, fields\n@dataclass\nclass P:\n    x: 'typing.ClassVar[int]' = 1\n"
        "print(input(), len(fields(P)))\nimport typing as t"
    ),
    "a name deleted that it did not bind": "del input, sqrt\nprint(sys.stdin.readline(), input)\ntry: sqrt\nexcept NameError as error: print(error)",
    "annotations as text": (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: List[int]\n"
        "print(P([1]), P.__annotations__, get_type_hints(P), input())"
    ),
    "an exception in its third line": "word = input()\ndef f(x):\n    return json.loads(x)\nf('{')",
}
"""Each prints what a second run would see of the first."""

NOT_SHARED: dict[str, str] = {
    "globals by a computed name": "print(input(), getattr(math, 'p' + 'i'))\ngetattr(math, '__di' + 'ct__')['pi'] = 3",
    "its globals": "names = globals()\nprint(input(), len(names), list(names)[:9], 'mine' in names)\nmine = 1",
    "an attribute of a module, under another name": "def set_pi(module): module.pi = 3\nprint(input(), math.pi)\nset_pi(math)",
    "a file by the header's open": "print(input())\nwith open('left.txt', 'a+') as file:\n    print('x', file=file)\n    print(file.tell())",
    "a file of the header's": "print(input())\nwith FileIO('left.txt', 'a+') as file:\n    file.write(b'x')\n    print(file.tell())",
}


@pytest.mark.parametrize("name", SHARED | NOT_SHARED)
def test_each_test_case_behaves_as_in_its_own_process(sandbox: Sandbox, name: str) -> None:
    assert_alike(sandbox, (SHARED | NOT_SHARED)[name], HEADER, shared=name in SHARED)


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
    "more recursion than there may be": ("import sys\nsys.setrecursionlimit(10**100)", False),
    "not Python": ("import", False),
}


@pytest.mark.parametrize("name", PREAMBLES)
def test_only_a_header_is_shared_and_each_preamble_works(sandbox: Sandbox, name: str) -> None:
    preamble, shared = PREAMBLES[name]
    assert_alike(sandbox, "print(input())", preamble, shared=shared)


@pytest.mark.parametrize(
    "preamble",
    [
        "def f(): return 1",
        "read = input",
        "print(1)",
        "import math\nmath.pi = 3",
        "A, B = 1, 2",
        "seen = []",
        "try:\n    import math\nexcept ImportError:\n    pass",
        "import __main__",
        "__name__ = 'x'",
        "import math as __builtins__",
        "x = " + "-" * 100_000 + "1",
    ],
    ids=lambda text: text[:30],
)
def test_what_does_more_is_not_a_header(preamble: str) -> None:
    assert header_of(preamble) is None


def test_a_module_that_may_not_be_harmless_costs_a_process_if_it_is_used(sandbox: Sandbox) -> None:
    header = "import signal\nfrom signal import *\n"
    assert run(sandbox, "print(input())", header, reuse=True)[1]
    assert not run(sandbox, "print(input(), signal.SIGTERM)", header, reuse=True)[1]
    assert not run(sandbox, "print(input(), Signals)", header, reuse=True)[1]


def test_one_test_case_alone_runs_the_preamble(sandbox: Sandbox) -> None:
    with sandbox.execute(Program("print(inf, input())", None, HEADER), Limits(), several=False) as execution:
        assert execution.run(b"alone\n", wall_s=30).stdout.text() == "inf alone\n"
