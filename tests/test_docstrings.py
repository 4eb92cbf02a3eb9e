"""The docstrings of the library's front door: their examples run, and they explain each argument."""

import doctest
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator import Task, agrade, grade, grade_all, grade_file, load_rollouts, load_task, load_tasks
from evaluator.options import Given

FUNCTIONS: list[Callable[..., object]] = [grade, agrade, grade_all, grade_file, load_task, Task.from_row]
READERS: list[Callable[..., object]] = [load_tasks, load_rollouts]


@pytest.mark.parametrize("function", FUNCTIONS + READERS)
def test_an_example_prints_what_it_says(
    function: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.jsonl").write_text('{"task_id": "t", "answer": "42"}\n')
    (tmp_path / "rollouts.jsonl").write_text('{"task_id": "t", "completion": "42"}\n' * 2)
    name = function.__qualname__
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", {}, name, None, None)
    told: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=told.append)
    assert result.attempted, "it has none"
    assert not result.failed, "".join(told)


@pytest.mark.parametrize("function", [each for each in FUNCTIONS if each is not agrade])
def test_each_argument_is_explained(function: Callable[..., object]) -> None:
    explained = (inspect.getdoc(function) or "").partition("\nArgs:\n")[2].partition("\nRaises:\n")[0]
    heads = [line.partition(":")[0] for line in explained.splitlines() if line.startswith("    ")]
    named = {name for head in heads for name in head.strip().split(", ")}
    taken = set(inspect.signature(function).parameters)
    if "given" in taken:
        taken = taken - {"given"} | Given.__annotations__.keys()
    assert taken <= named


def test_the_awaited_one_takes_the_same_arguments() -> None:
    assert inspect.signature(agrade) == inspect.signature(grade)
    assert inspect.iscoroutinefunction(agrade)
