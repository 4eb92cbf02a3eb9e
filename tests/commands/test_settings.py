"""What options are set to in a file and in the environment, and `rollscope config`."""

import json
import os
from pathlib import Path

import pytest

from tests.commands.command_line import ANSWER, Ask, sample, write_rows


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    (tmp_path / "inner").mkdir()
    write_rows(tmp_path / "d.jsonl", ANSWER)
    write_rows(tmp_path / "inner" / "r.jsonl", *(sample(f"s{n}", "42", "answer") for n in range(3)))
    return Ask(tmp_path / "inner")


def settings(ask: Ask) -> dict[str, tuple[object, str]]:
    assert ask("config", "--json") == 0
    return {row["setting"]: (row["value"], row["from"]) for row in json.loads(ask.out)}


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.rollscope.grade]\ndataset = "d.jsonl"\nlimit = 1\njson = true\nfail_fast = true\n')

    def graded(*words: object) -> int:
        assert ask("grade", "r.jsonl", *words) == 0
        rollouts: int = json.loads(ask.out)["rollouts"]
        return rollouts

    assert graded("-o", "a") == 1
    monkeypatch.setenv("ROLLSCOPE_GRADE_LIMIT", "2")
    assert graded("-o", "b") == 2
    assert graded("-o", "c", "-n", 3) == 3
    assert (ask("grade", "r.jsonl", "-o", "d", "--no-json"), "mean reward" in ask.out) == (0, True)
    monkeypatch.setenv("ROLLSCOPE_GRADE_FAIL_FAST", "no")
    monkeypatch.setenv("ROLLSCOPE_WORKERS", "3")
    found = settings(ask)
    assert found["grade.dataset"] == (str(tmp_path / "d.jsonl"), str(file))
    assert found["grade.limit"] == ("2", "ROLLSCOPE_GRADE_LIMIT")
    assert found["grade.fail-fast"] == (False, "ROLLSCOPE_GRADE_FAIL_FAST")
    assert found["audit.workers"] == ("3", "ROLLSCOPE_WORKERS")
    assert found["grade.timeout"] == ("10", "default")
    (ask.folder / "rollscope.toml").write_text("[grade]\ntimeout = 20\n")
    found = settings(ask)  # the nearest file is the only one
    assert (found["grade.timeout"][0], found["grade.dataset"][1]) == (20, "default")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[grade]\ntimout = 3", ["grade.timout: no such setting (did you mean timeout?)"]),
        ("[grad]\ntimeout = 3", ["grad.timeout: no such table (did you mean grade?)"]),
        ("zzz = 3", ["zzz: no such table: give those of commands, such as [grade]"]),
        ("[grade]\ntimeout = 'x'", ["grade.timeout: invalid float value: 'x'"]),
        ("[grade]\nlimit = 0", ["grade.limit: 0 is out of range: give a number from 1"]),
        ("[grade]\nresume = 1", ["grade.resume: 1 is neither true nor false"]),
        ("[grade]\nchecker = [1]", ["grade.checker: [1] is neither text nor a number"]),
        ("[grade]\nsandbox = 'no'\nmap = true", ["grade.sandbox: invalid choice: 'no'", "grade.map: True is neither"]),
        ("[grade", ["not TOML: Expected ']'"]),
    ],
)
def test_what_is_wrong_in_a_file_is_a_line_each(text: str, wrong: list[str], ask: Ask) -> None:
    file = ask.folder / "rollscope.toml"
    file.write_text(text)
    assert ask("grade", "r.jsonl", "--dataset", "../d.jsonl") == 2
    lines = ask.err.splitlines()
    assert len(lines) == len(wrong)
    for line, said in zip(lines, wrong, strict=True):
        assert line.startswith(f"rollscope: {file}: {said}")
    assert ask("grade", "--help") == 0


def test_what_is_wrong_in_a_variable_is_a_line(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLSCOPE_VIEW_POT", "1")
    assert ask("config") == 2
    assert ask.err == "rollscope: ROLLSCOPE_VIEW_POT: no such setting (did you mean port?)\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_the_file_of_another_user_is_ignored(ask: Ask) -> None:
    file = ask.folder / "rollscope.toml"
    file.write_text('[grade]\ngrader = "theirs.py:reward"\n[')
    os.chown(file, 12345, 12345)
    assert settings(ask)["grade.grader"] == ("tests", "default")
    assert ask.err == f"{file}: ignored: it belongs to another user: make it yours to use it\n"
