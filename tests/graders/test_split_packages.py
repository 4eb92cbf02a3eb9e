"""Tests that need packages of the user's interpreter: pandas' frames and series."""

import sys
from collections.abc import Iterator

import pytest

from evaluator.model import Limits, Verdict
from evaluator.sandbox import Program, Sandbox, Settings
from tests.graders.conftest import Graded
from tests.graders.split_tasks import Answer, Row, check_task, each_answer


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox with all packages of this interpreter, as with `--python`."""
    with Sandbox(Settings(python=sys.executable)) as made:
        yield made


# fmt: off
FRAMES = Row("frames", check_task("""
        given = pd.DataFrame({'name': ['a', 'b', 'a'], 'n': [1, 2, 3]})
        got = candidate(given)
        wanted = pd.DataFrame({'name': ['a', 'b'], 'n': [4, 2]})
        pd.testing.assert_frame_equal(got, wanted)
        assert got.equals(wanted) and isinstance(got, pd.DataFrame)
        assert list(got.columns) == ['name', 'n'] and got.shape == (2, 2)
        assert got.loc[got['n'] > 2, 'name'].tolist() == ['a']
        """, before="import pandas as pd", preamble="import pandas as pd"),
    right="def f(frame): return frame.groupby('name', as_index=False)['n'].sum()",
    wrong="def f(frame): return frame.groupby('name', as_index=False)['n'].max()",
    attack="""
        class Frame(pd.DataFrame):
            equals = lambda self, other: True
        pd.testing.assert_frame_equal = lambda *_, **__: None
        def f(frame): return Frame({'name': ['a', 'b'], 'n': [3, 2]})
        """)
# fmt: on


@each_answer([FRAMES])
def test_both_sides_have_the_packages(graded: Graded, row: Row, answer: Answer) -> None:
    row.assert_judged(graded(row.task, row.completion(answer)), answer)


def test_packages_that_a_completion_names_are_there_before_it(graded: Graded) -> None:
    task = check_task("for _ in range(2): assert candidate()")
    program = "import sys\nREADY = 'pan' 'das' in sys.modules\ndef f(): return READY  # as scipy does\n"
    assert graded(task, program).verdict is Verdict.PASSED


def test_a_package_that_knows_how_to_start_processes_is_refused_it_with_the_reason(graded: Graded) -> None:
    """It has been loaded before the completion's process was made."""
    task = check_task("for _ in range(2): assert candidate()")
    case = graded(task, "import pandas, subprocess\ndef f(): return subprocess.run(['true'])").cases[0]
    assert "limits.processes is 0" in (case.error_message or ""), case


@pytest.mark.slow
def test_interpreters_with_packages_are_few(sandbox: Sandbox) -> None:
    named = ["numpy", "pandas", "numpy, pandas", "pyplot", "scipy", "pyplot, scipy"]
    first, second, *others = [sandbox.suite_zygote(each) for each in named]
    assert sandbox.suite_zygote("numpy") is first
    sandbox.execute(Program("import numpy"), Limits()).close()
    assert [each.alive for each in (first, second, *others)] == [True, False, *[True] * 4]
    assert sandbox.suite_zygote("pandas").alive
