"""What of a task goes into the process of its check, and what into that of the completion."""

import pytest

from evaluator.model import Mode, Task
from evaluator.suites.reading.plan import plan_suite
from evaluator.suites.reading.uses import Need
from tests.suites.reading.check_tasks import IMPORTS, check_task, planned, source, suite, task


def test_names_of_the_completion_are_those_that_nothing_of_the_dataset_defines() -> None:
    plan = planned(
        """
        total = 0
        for number in [len(x) for x in (y, MOD)]:
            total += helper(number)
        assert candidate(total) == f(poly(total)) == sqrt(List) == other.thing
        def inner(a, *b): return a, b, deep
        """,
        before="from math import *\ny = [1]",
        prompt="from typing import *\ndef poly(x): return x\ndef f(x):\n    '''Does it.'''",
        preamble="other = 1",
    )
    assert plan.suite.names == ("MOD", "deep", "helper")


def test_a_name_that_one_method_binds_may_be_the_completions_in_another() -> None:
    plan = suite("def test_a(self):\n    helper = 1\n    f(helper)\ndef test_b(self):\n    f(helper(2))")
    assert plan.suite.names == ("helper",)


def test_a_module_that_the_test_does_not_import_is_pythons_and_not_the_completions() -> None:
    body = """
        assert math.isclose(candidate(1), 1) and np.allclose(candidate(1), helper.value)
        assert candidate(2) == datetime.now() and candidate(3) == time and candidate(random.noise())
        """
    check = planned(body).suite
    assert check.definitions == "import math\nimport numpy as np\n"
    assert check.names == ("datetime", "helper", "random", "time")
    assert check.uses == ("numpy",)


def test_the_definitions_are_what_the_prompt_gives_and_not_what_it_asks_for() -> None:
    prompt = '''
        import math
        from typing import List
        LIMIT = 10
        SOLVER = stub(1)
        FIRST = input()
        try:
            import numpy
        except ImportError:
            numpy = None
        def stub(x):
            """To be written."""
        def left():
            raise NotImplementedError
        def poly(xs: list, x: float):
            return sum(c * math.pow(x, i) for i, c in enumerate(xs))
        class Base:
            def area(self): ...
        class Square(Base):
            pass
        class TooLarge(ValueError):
            pass
        print(poly([1], 2))
        def f(xs: List[int]) -> int:
            """What is asked for."""
        '''
    found = plan_suite(
        check_task("assert candidate([1]) == 1", prompt=prompt, preamble="import math")
    ).suite.definitions
    assert found == source("""
        from typing import List
        LIMIT = 10
        try:
            import numpy
        except ImportError:
            numpy = None
        def poly(xs: list, x: float):
            return sum(c * math.pow(x, i) for i, c in enumerate(xs))
        class TooLarge(ValueError):
            pass
        """)


@pytest.mark.parametrize(
    ("prompt", "definitions"),
    [
        ("Write a function `f`.\n", ""),
        ("Sort", ""),
        ("import math\ndef f(x):\n", "import math\n"),
        ("import math\ndef helper(x): return x\nasync def f(x):\n", "import math\ndef helper(x): return x\n"),
        ("class Solution:\n    def f(self, x):\n        return 0\n", ""),
        ("def f(x):\n    return 'buggy'\n", ""),
    ],
)
def test_definitions_of_prompts_that_are_unfinished_or_no_python(prompt: str, definitions: str) -> None:
    found = plan_suite(Task(task_id="t", mode=Mode.ASSERT, test="assert f(1) == 1", entry_point="f", prompt=prompt))
    assert found.suite.definitions == definitions


def test_plain_classes_of_the_preamble_and_of_the_prompt_cross_as_data() -> None:
    check = planned(
        "assert candidate(Node(1)) == 1",
        preamble="class Node:\n    def __init__(self, v): self.v = v\nclass Leaf(Node): pass\nclass Odd(list): pass",
        prompt="from enum import Enum\nclass Color(Enum):\n    RED = 1\ndef f(node): ...",
    ).suite
    assert check.classes == ("Color", "Leaf", "Node")


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Return a `Money` whose amount is x.", "Money"),
        ("Return a Money object.", "Money"),
        ("def f(x) -> 'Optional[Money]':\n    '''Does it.'''", "Money"),
        ("class money:\n    def add(self, x): ...", "money"),
    ],
)
def test_a_class_that_the_prompt_speaks_of_is_mentioned(prompt: str, name: str) -> None:
    assert name in planned("assert candidate(1)", prompt=prompt).suite.mentioned


def test_variables_parameters_and_types_of_python_are_no_classes_that_the_task_speaks_of() -> None:
    prompt = "from typing import List\ndef f(numbers: List[int], key: str) -> list:\n    '''This class of problems.'''"
    check = planned("x = 1\nassert candidate(x, key=2).attribute == x", prompt=prompt).suite
    assert check.mentioned == ("f",)


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("case.assertRaises(SystemExit, f)", "exits"),
        ("try: f(1)\n    except: pass", "exits"),
        ("try: f(1)\n    except (BaseException, KeyError): pass", "exits"),
        ("with patch('os.getpid'): f(1)", "mocks"),
        ("os.environ['HOME'] = 'x'; f(1)", "environment"),
        ("assert f(buffer) is buffer", "identity"),
        ("case.assertIs(f(1), f(1))", "identity"),
        ("with open('x') as file: f(file.read())", "files"),
        ("os.remove(f('x'))", "files"),
        ("assert os.path.exists(f(1))", "files"),
        ("f(Path('x'))", "files"),
        ("f(tempfile.mkdtemp())", "files"),
        ("random.seed(1); f(1)", "random"),
        ("f(randint(1, 2))", "random"),
    ],
)
def test_what_a_test_uses_is_listed(statement: str, word: str) -> None:
    before = (
        source(IMPORTS)
        + "import inspect, tempfile\nimport numpy as np\nfrom pathlib import Path\nfrom random import randint\n"
    )
    used = plan_suite(task(before + f"def test_it():\n    assert f(0)\n    {statement}\n")).suite.uses
    assert used == tuple(sorted({word, "numpy"}))


@pytest.mark.parametrize(
    "statement",
    [
        "try: f(1)\n    except Exception: pass",
        "f(os.path.join('a', 'b'), os.sep)",
        "assert f(1) is not None and type(f(1)) is int",
        "f(random.Random(1).random())",
        "f(inspect.signature(f))",
        "print(f(1), file=sys.stderr)",
    ],
)
def test_what_needs_no_preparation_is_not_listed(statement: str) -> None:
    before = source(IMPORTS) + "import inspect\n"
    assert plan_suite(task(before + f"def test_it():\n    assert f(0)\n    {statement}\n")).suite.uses == ()


@pytest.mark.parametrize(
    ("prompt", "libs", "needs"),
    [
        ("import subprocess\ndef f(x): ...", None, {Need.PROCESSES}),
        ("def f(x): ...", "['os', 'multiprocessing']", {Need.PROCESSES}),
        ("def f(x): ...", ["psutil", "json"], {Need.PROCESSES}),
        ("from concurrent.futures import ProcessPoolExecutor\ndef f(x): ...", None, {Need.PROCESSES}),
        ("from http.server import HTTPServer\ndef f(x): ...", None, {Need.LOOPBACK}),
        ("import os, json\ndef f(x): ...", "['collections']", set()),
        ("Run a subprocess.", None, set()),
    ],
)
def test_needs_are_those_of_the_libraries(prompt: str, libs: object, needs: set[Need]) -> None:
    asked = task("def check(candidate):\n    assert candidate(1) == 1", prompt=prompt)
    asked.metadata = {} if libs is None else {"libs": libs}
    assert plan_suite(asked).needs == needs
