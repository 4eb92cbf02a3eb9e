"""Without an extra the wheel grades, and names the extra that something else needs, in one line."""

import subprocess
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, run

pytestmark = pytest.mark.slow

DATASET = ROOT / "data" / "example.dataset.jsonl"
ROLLOUTS = ROOT / "data" / "example.rollouts.jsonl"

NEMO_GYM = "NeMo Gym's servers need fastapi and more: pip install 'rollscope[serve]'"

GRADED = """
from evaluator import Task, grade

add = {"task_id": "add", "mode": "call", "in_outs": {"inputs": ["1"], "outputs": ["1"], "fn_name": "add"}}
fruit = {"task_id": "fruit", "answer": "apple", "grader": "exact_match:marker=Answer:"}
form = {"task_id": "form", "answer": {"required": ["name"]}, "grader": "structured"}
print(*[grade(Task.from_row(row), completion).reward for row, completion in [
    (add, "def add(a): return a"), (add, "def add(a): return 0"), (fruit, "Answer: apple"), (form, '{"name": 1}'),
]])
"""

REFUSED = """
from evaluator import MissingExtraError, Task, grade

JUDGE = "similarity:model=m,base_url=http://127.0.0.1:1"
row = {"task_id": "1", "prompt": "?", "answer": "7"}
for grader in ("exact_match:pattern=[0-9]+", 'structured:schema={"type":"object"}', JUDGE):
    try:
        grade(Task.from_row(row), "7", grader=grader)
    except MissingExtraError as error:
        print(error)
schema = Task.from_row({"task_id": "1", "answer": {"schema": {"type": "object"}}, "grader": "structured"})
print(grade(schema, "{}").error_message)
"""

IMPORTED = """
import importlib, pkgutil, evaluator

for found in pkgutil.walk_packages(evaluator.__path__, "evaluator.", onerror=lambda name: None):
    parts = {*found.name.split(".")}
    if parts.isdisjoint(("inside", "guest", "probe")):  # these are for the sandbox
        try:
            importlib.import_module(found.name)
        except evaluator.MissingExtraError:
            print(found.name)
"""


def python(environment: Path, code: str, folder: Path) -> list[str]:
    return run(environment / "bin" / "python", "-I", "-c", code, cwd=folder).splitlines()


def test_it_grades(bare: Path, tmp_path: Path) -> None:
    assert python(bare, GRADED, tmp_path) == ["1.0 0.0 1.0 1.0"]


def test_its_command_works_and_doctor_proves_the_sandbox(bare: Path) -> None:
    for command in (["--help"], ["--version"], ["formats"], ["formats", ROLLOUTS], ["grade", "--help"]):
        run(bare / "bin" / "rollscope", *command)
    assert "every needed layer holds" in run(bare / "bin" / "rollscope", "doctor")


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["grade", ROLLOUTS, "--dataset", DATASET], "a run needs pyarrow and duckdb: pip install 'rollscope[runs]'"),
        (["view"], "the dashboard needs streamlit and more: pip install 'rollscope[dashboard]'"),
        (["serve", "colossalai"], "a server needs starlette and uvicorn: pip install 'rollscope[serve]'"),
        (["serve", "nemo-gym"], NEMO_GYM),
        (["collect", "--input", "r.jsonl", "--output", "o.jsonl"], NEMO_GYM),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) and len(value) < 3 else None,
)
def test_a_command_names_the_extra_that_it_needs(
    bare: Path, command: list[str | Path], line: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [bare / "bin" / "rollscope", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"rollscope: {line}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_grader_names_the_extra_that_it_needs(bare: Path, tmp_path: Path) -> None:
    assert python(bare, REFUSED, tmp_path) == [
        "a pattern needs pyarrow: pip install 'rollscope[runs]'",
        "a JSON Schema needs jsonschema: pip install 'rollscope[schema]'",
        "grader similarity needs httpx2: pip install 'rollscope[judge]'",
        "a JSON Schema needs jsonschema: pip install 'rollscope[schema]'",
    ]


def test_every_module_is_imported_or_names_an_extra(bare: Path, tmp_path: Path) -> None:
    without = python(bare, IMPORTED, tmp_path)
    packages = (*"interop. runs. report commands. graders.judge graders.answers workers.server.".split(),)
    assert [name for name in without if not name.removeprefix("evaluator.").startswith(packages)] == []
    assert not {"evaluator.interop.verl", "evaluator.interop.agentfly", "evaluator.interop.colossalai"} & set(without)
