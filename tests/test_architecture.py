"""ARCHITECTURE.md: every name in it exists. The examples of docs/how-to/extending.md work. So do paths of pages."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
EXAMPLES = dict(re.findall(r"```python (\S+)\n(.*?)```", (ROOT / "docs/how-to/extending.md").read_text(), re.DOTALL))
PROGRAM = """
import json
from evaluator import Rollout, Task, flags, grade, load_rollouts
from streamlit.testing.v1 import AppTest
from evaluator.graders import Bench, get_grader
from dashboard import state

rows = {"task_id": "t", "mode": "stdin", "in_outs": {"inputs": ["1"], "outputs": ["YES"]}}
task = Task.from_row(rows)
page = AppTest.from_file("app.py", default_timeout=300)
page.switch_page("pages/models.py")
json.dump([
    [grade(task, f"print('{word}')", checker="caseless").reward for word in ("yes", "no")],
    [[each.task_id, each.completion, each.recorded_verdict, each.recorded_by] for each in load_rollouts("r.jsonl")],
    [grade(task, text, grader="brief:most=3").reward for text in ("abc", "abcd")],
    [flag.word for flag in flags.flags_of(task, "import time\\ntime.sleep(1)", ())],
    [int(table.value["rollouts"].sum()) for table in page.run().dataframe],
], open("out.json", "w"))
"""


@pytest.mark.parametrize(("path", "name"), sorted(set(re.findall(r"`(evaluator/\S+\.py)` `(\w+)`", TEXT))))
def test_a_step_names_what_exists(path: str, name: str) -> None:
    module = importlib.import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    assert hasattr(module, name)


@pytest.mark.parametrize(
    "page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "data/README.md", "docs/how-to/extending.md"]
)
def test_its_paths_exist(page: str) -> None:
    paths = re.findall(r"`((?:evaluator|dashboard|pages|docs|tests|tools)/[\w./]*)`", (ROOT / page).read_text())
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", EXAMPLES)
def test_an_example_passes_the_linter(path: str) -> None:
    words = [sys.executable, "-m", "ruff", "check", "--stdin-filename", str(ROOT / path), "-"]
    done = subprocess.run(words, cwd=ROOT, input=EXAMPLES[path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_examples_work(tmp_path: Path) -> None:
    for name in ("evaluator", "rollscope", "dashboard", "pages", "data", ".streamlit"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", tmp_path)
    for path, code in EXAMPLES.items():
        (tmp_path / path).write_text(code)
    edit(
        tmp_path / "evaluator/flags/__init__.py",
        "reaching.FINDERS]",
        "reaching.FINDERS, sleeping.FINDER]",
        '"ctypes",',
        '"ctypes", "sleeps",',
    )
    edit(tmp_path / "evaluator/flags/__init__.py", "import reaching", "import reaching, sleeping")
    edit(tmp_path / "dashboard/state.py", '"rewards": "Rewards",', '"rewards": "Rewards", "models": "Models",')
    (tmp_path / "r.jsonl").write_text('{"riddle": "what", "guesses": [{"text": "that", "right": true}]}\n')
    environment = os.environ | {"ROLLSCOPE_OPEN": json.dumps({"runs": [str(tmp_path / "data/example.run")]})}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    guess = ["what", "that", "passed", "the sphinx"]
    assert json.loads((tmp_path / "out.json").read_text()) == [[1.0, 0.0], [guess], [1.0, 0.0], ["sleeps"], [111]]


def edit(path: Path, *pairs: str) -> None:
    text = path.read_text()
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
