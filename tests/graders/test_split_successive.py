"""Completions of one task and of others, one after another: no test sees anything of the one before it."""

from collections.abc import Iterator

import pytest

from evaluator.model import Grade, Limits, Task, Verdict
from tests.graders.conftest import Graded
from tests.graders.split_tasks import check_task, suite_task

_RIGHT = "def f(x): return x + 1"
_PLAIN = check_task("import math\nassert candidate(1) == 2\nassert candidate(2) == 3")


def _versions(program: str, number: int = 3) -> Iterator[str]:
    """The program in several texts, because the same text is not graded twice."""
    return (f"{program}\n# sample {n}\n" for n in range(number))


@pytest.mark.parametrize(
    "leaves",
    [
        "filters = logging.getLogger('left').filters\nfilters.append(1)\nassert len(filters) == candidate(0)",
        "SEEN.append(1)\nassert len(SEEN) == candidate(0)",
        "assert ((random.random(), random.random()) == FIRST) == candidate(0)",
        "sys.argv.append('left')\nassert len(sys.argv) == 1 + candidate(0)",
        "logging.FileHandler('left.txt', 'x').close()\nassert candidate(0) == 1",
    ],
    ids=["module", "test", "random", "argv", "file"],
)
def test_nothing_that_a_test_leaves_behind_reaches_the_next(graded: Graded, leaves: str):
    before = """
    import logging, random, sys
    GENERATOR = random.Random(0)
    FIRST = (GENERATOR.random(), GENERATOR.random())
    SEEN = []
    """
    task = check_task(leaves, before=before)
    grades = [graded(task, program) for program in _versions(_RIGHT)]
    assert [grade.verdict for grade in grades] == [Verdict.PASSED] * 3, grades
    assert all(grade.verified for grade in grades)


def _said(grade: Grade) -> list[object]:
    fields = ("verdict", "difference", "actual", "expected", "error_message", "error_line")
    return [[getattr(case, name) for name in fields] for case in grade.cases]


@pytest.mark.parametrize(
    "task",
    [
        check_task("y = candidate(1)\n\nassert y == 2, 'no'\nfor x in (5, 6):\n    assert candidate(x) == x + 1"),
        check_task("async def g():\n    assert candidate(1) == 2\nimport asyncio\nasyncio.run(g())"),
        check_task("if candidate(1) != 2:\n    return\n    raise ValueError\nassert candidate(1) == 3"),
        suite_task(
            """
            import unittest
            class T(unittest.TestCase):
                def test_one(self):
                    self.assertEqual(f(1), 2)
                def test_two(self):
                    for x in (1, 2):
                        with self.subTest(x): assert f(x) == x + 1
            """
        ),
    ],
    ids=["statements", "async", "whole", "suite"],
)
@pytest.mark.parametrize("program", [_RIGHT, "def f(x): return x", "def f(x): return {}[x]", "def f(x): return"])
def test_the_second_grade_equals_the_first(graded: Graded, task: Task, program: str):
    first, *others = (_said(graded(task, version)) for version in _versions(program))
    assert first
    assert others == [first, first]


@pytest.mark.parametrize(
    ("ends", "verdict", "limits"),
    [
        pytest.param(
            "while candidate(1): pass", Verdict.TIME_LIMIT, {"wall_s": 1}, marks=pytest.mark.slow, id="endless"
        ),
        ("kept = []\nwhile candidate(1): kept.append(bytearray(2**24))", Verdict.MEMORY_LIMIT, {"memory_mb": 256}),
        ("os.abort() if candidate(1) else None", Verdict.RUNTIME_ERROR, {}),
        ("os._exit(0) if candidate(1) else None", Verdict.RUNTIME_ERROR, {}),
    ],
)
def test_a_completion_after_an_interrupted_test_is_graded(
    graded: Graded, ends: str, verdict: Verdict, limits: dict[str, float]
) -> None:
    hopeless = check_task(f"{ends}\nassert candidate(1) == 2", before="import os", limits=limits)
    for program in _versions(_RIGHT, 2):
        assert graded(hopeless, program).verdict is verdict
        assert graded(_PLAIN, program).verdict is Verdict.PASSED
        assert graded(_PLAIN, program.replace("+ 1", "+ 2")).verdict is Verdict.WRONG_ANSWER


def test_each_has_its_own_limits(graded: Graded) -> None:
    task = check_task("many = bytearray(300 * 2**20)\nmany[::4096] = bytes(300 * 2**8)\nassert candidate(1) == 2")

    def verdict(memory_mb: float, program: str) -> Verdict:
        return graded(task, program, Limits(memory_mb=memory_mb, virtual_mb=4 * memory_mb)).verdict

    given = [verdict(memory_mb, program) for program in _versions(_RIGHT, 2) for memory_mb in (1024, 64)]
    assert given == [Verdict.PASSED, Verdict.UNKNOWN] * 2  # not caused by the completion


def test_tests_with_and_without_shared_files_alternate(graded: Graded):
    shares = check_task(
        "with open('in.txt', 'x') as file:\n    file.write('7')\nassert candidate('in.txt') == 7\nos.remove('in.txt')",
        before="import os",
    )
    reads = "def f(path): return int(open(path).read()) if isinstance(path, str) else path + 1"
    for program in _versions(reads):
        assert graded(shares, program).verdict is Verdict.PASSED
        assert graded(_PLAIN, program).verdict is Verdict.PASSED


def test_what_a_completion_does_to_modules_that_are_loaded_once_reaches_neither_its_test_nor_the_next(graded: Graded):
    task = suite_task(
        """
        import unittest
        from unittest.mock import patch
        class T(unittest.TestCase):
            @patch("os.getpid", return_value=3)
            def test_one(self, getpid):
                self.assertEqual(f(1), 2)
                getpid.assert_called_once_with()
        """
    )
    attack = """
import asyncio, logging, os, unittest, unittest.mock
LEFT = hasattr(asyncio, "left") or hasattr(logging, "left") or hasattr(unittest.mock, "left")
asyncio.left = logging.left = unittest.mock.left = True
for kind in (unittest.TestCase, unittest.mock.NonCallableMock):
    for name in dir(kind):
        if name.startswith("assert"): setattr(kind, name, lambda *_, **__: None)
def f(x):
    if LEFT: os.getpid()
    return 2 if LEFT else 0
"""
    assert [graded(task, program).reward for program in _versions(attack)] == [0.0] * 3
    honest = "import os\ndef f(x): return os.getpid() - x"
    assert graded(task, honest).verified
