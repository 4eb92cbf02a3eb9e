"""An import header before a function: the code gets what it names, and finds the rest where it could look for it."""

import pytest

from evaluator.sandbox import Program, Sandbox, Status, encoded_call
from tests.sandbox.conftest import PATIENT

HEADER = (
    "import sys\nfrom math import *\nfrom heapq import *\nfrom typing import *\nfrom collections import Counter\n"
    "import collections.abc\nimport os.path as p\nfrom sys import stdout\n"
    "MOD = 10 ** 9 + 7\nsys.setrecursionlimit(5000)\n"
)
NO_HEADER = HEADER + "def _helper(): pass\n"
"""The same, but not only imports and constants: it is run as it is."""

CODES = {
    "names": "def f(x): return gcd(x, 4), Counter([x]), MOD % x, p.join('a', 'b')",
    "a name in a class": "class Solution:\n    def f(self, x: List[int]) -> Optional[int]:\n        return sqrt(x)",
    "its own name is the header's": "def gcd(x, y=0): return x\ndef f(x): return gcd(x)",
    "a global by its name": "def f(x): return globals()['gcd'](x, 4)",
    "a text that is evaluated": "def f(x): return eval('gcd(x, 4)')",
    "all globals": "def f(x): return sorted(name for name in globals() if name[0] != '_')",
    "annotations": "def f(x: 'Deque[int]'): return [str(each) for each in get_type_hints(f).values()]",
    "a data class": "from dataclasses import *\n@dataclass\nclass A:\n    x: 'List[int]'\ndef f(x): return A(x).x",
    "a stream": "def f(x):\n    stdout.write('out')\n    return stdout is sys.stdout",
    "a limit": "def f(x): return sys.getrecursionlimit()",
    "a name that is not there": "def f(x): return nothing",
    "a submodule": "def f(x): return collections.abc.Sized.__name__",
    "no function": "g = 1",
}


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("entry_point", ["f", "merge"])
def test_a_header_makes_no_difference(namespaces: Sandbox, name: str, entry_point: str) -> None:
    """`merge` is also a name of the header's: that is not the completion's function."""
    code = CODES[name]
    if entry_point != "f":
        code = code.replace("def f(", f"def {entry_point}(").replace("(f)", f"({entry_point})")
    told = []
    for preamble in (HEADER, NO_HEADER):
        with namespaces.execute(Program(code, entry_point, preamble), PATIENT) as execution:
            outcome = execution.run(encoded_call([3], {}), wall_s=30)
        value = outcome.value
        if name == "all globals" and isinstance(value, list):
            value = [each for each in value if each != "_helper"]
        failure = outcome.failure and (outcome.failure.type, outcome.failure.message)
        told.append((outcome.status, value, failure, outcome.stdout.text()))
    assert told[0] == told[1]
    others = {"no function": Status.NOT_LOADED, "a name that is not there": Status.RAISED}
    assert told[0][0] is others.get(name, Status.ANSWERED)


def test_a_header_that_fails_is_reported_as_before(namespaces: Sandbox) -> None:
    with namespaces.execute(Program("def f(x): return x", "f", "import no_such_module\n"), PATIENT) as execution:
        outcome = execution.run(encoded_call([3], {}), wall_s=30)
    assert outcome.status is Status.NOT_LOADED
    assert outcome.failure.type == "ModuleNotFoundError"
