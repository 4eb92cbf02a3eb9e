"""`rollscope init-server`: what it writes runs, passes its own tests, and is what NeMo Gym asks for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import evaluator
from evaluator.cli import main
from evaluator.formats import load_tasks
from evaluator.interop.nemo_gym import new_server

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("new") / "my_task"
    with pytest.raises(SystemExit) as ended:
        main(["init-server", str(made)])
    assert ended.value.code == 0
    return made


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["init-server", *map(str, arguments)])
    told = capsys.readouterr().err
    assert (ended.value.code, told.count("\n")) == (2, 1)
    return told


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    settings |= {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, env=settings, capture_output=True, text=True, check=False
    )


def test_it_writes_every_file_of_a_server(folder: Path) -> None:
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} >= {
        "app.py", "configs/my_task.yaml", "data/train.jsonl", "data/validation.jsonl", "data/example.jsonl",
        "data/example_metrics.json", "data/example_rollouts.jsonl", "tests/test_app.py", "requirements.txt",
        "task_data.py", "README.md",
    }  # fmt: skip


def test_nothing_is_left_to_fill_in(folder: Path) -> None:
    for path in folder.rglob("*.*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert "$" not in path.read_text()


def test_its_own_tests_pass(folder: Path) -> None:
    done = run("pytest", "-q", "-p", "no:cacheprovider", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d\d passed", done.stdout)


def test_its_own_tests_notice_a_wrong_rule(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    app = tmp_path / "app.py"
    pays_all = """
    async def verify(self, body: VerifyRequest) -> VerifyResponse:
        graded = await super().verify(body)
        graded.reward = 1.0
        return graded


if __name__"""
    imported = "from evaluator.interop.nemo_gym import VerifyRequest, VerifyResponse\n\nNOTES ="
    app.write_text(app.read_text().replace("\nif __name__", pays_all).replace("NOTES =", imported))
    done = run("pytest", "-q", "-p", "no:cacheprovider", "-k", "wrong_answer or stored", cwd=tmp_path)
    assert done.returncode == 1
    assert "test_a_wrong_answer_earns_nothing" in done.stdout
    assert "test_a_stored_rollout_is_graded_as_it_is_stored" in done.stdout


def test_a_linter_finds_nothing(folder: Path) -> None:
    assert run("ruff", "check", "--isolated", ".", cwd=folder).stdout == "All checks passed!\n"
    assert run("ruff", "format", "--isolated", "--check", ".", cwd=folder).returncode == 0


def test_its_datasets_are_ours_too(folder: Path) -> None:
    counts = {
        name: len(list(load_tasks(folder / "data" / f"{name}.jsonl"))) for name in ("train", "validation", "example")
    }
    assert counts == {"train": 6, "validation": 4, "example": 5}


def test_no_task_is_in_both_training_and_validation(folder: Path) -> None:
    train, validation = (
        {task.prompt for task in load_tasks(folder / f"data/{name}.jsonl")} for name in ("train", "validation")
    )
    assert not train & validation


def test_the_model_is_told_of_tools_that_are_there(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "data/train.jsonl").read_text().splitlines()]
    offered = {tool["name"] for row in rows for tool in row["responses_create_params"].get("tools", [])}
    assert offered == {"look_up", "run_tests"}
    assert "async def look_up" in (folder / "app.py").read_text()


def test_its_names_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["init-server", str(tmp_path / "Some Folder"), "--name", "word_sums"])
    assert ended.value.code == 0
    config = yaml.safe_load((tmp_path / "Some Folder" / "configs" / "word_sums.yaml").read_text())
    assert list(config) == ["word_sums", "word_sums_simple_agent", "word_sums_environment_server"]
    assert "class WordSumsResourcesServer" in (tmp_path / "Some Folder" / "app.py").read_text()
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_it_is_installed_from_the_checkout_or_by_version(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (folder / "requirements.txt").read_text().splitlines()[:2] == [f"-e {ROOT.as_uri()}", "rollscope[serve]"]
    monkeypatch.setattr(evaluator, "__file__", str(tmp_path / "site-packages" / "evaluator" / "__init__.py"))
    assert new_server.requirement() == f"rollscope[serve]=={evaluator.__version__}"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    new_server.write_server(tmp_path, "one")
    assert (tmp_path / "app.py").is_file()


def test_a_folder_that_has_something_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    assert "not empty (it has mine.txt)" in refusal(capsys, tmp_path, "--name", "one")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one").write_text("")
    assert "a file of that name exists" in refusal(capsys, tmp_path / "one")


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("My-Task", "my_task"),
        ("1st", "my_task"),
        ("", "my_task"),
        ("a/b", "a_b"),
        ("ünder", "nder"),
        ("x" * 41, "x" * 40),
    ],
)
def test_a_bad_name_is_told_with_a_good_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, better: str
) -> None:
    assert refusal(capsys, tmp_path / "new", "--name", name).endswith(f"give --name {better}\n")
    assert not (tmp_path / "new").exists()
