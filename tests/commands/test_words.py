"""What the words of a command line mean: names old and new, what every command has, completion, caches."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.cli import COMMANDS
from tests.commands.command_line import ANSWER, Ask, environment, one_line, rollscope, sample, write_rows


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    write_rows(tmp_path / "d.jsonl", ANSWER)
    write_rows(tmp_path / "r.jsonl", *(sample(f"s{n}", str(41 + n), "answer") for n in range(2)))
    return Ask(tmp_path)


def test_the_help_fits_a_terminal_and_lists_every_command(ask: Ask) -> None:
    assert ask("--help") == 0
    lines = ask.out.splitlines()
    assert max(map(len, lines[3:])) <= 88
    for name in COMMANDS:
        assert any(line.split()[:1] == [name] for line in lines)
        assert ask(name, "--help") == 0
    assert ask("serve", "--help") == 0
    assert "\n  sandbox-fusion  SandboxFusion" in ask.out


def test_another_name_of_an_option_means_the_same(ask: Ask) -> None:
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "--out=run", "-q") == 0
    assert ask.err == ""
    assert ask("export", "run", "--to", "a.csv") == 0
    assert ask.err.startswith("a.csv: ")
    assert ask("convert", "r.jsonl", "--to", "nemo_gym", "--dataset", "d.jsonl", "-o", "n.jsonl") == 0
    assert ask("formats", "n.jsonl", "--format", "nemo-gym") == 0


def test_a_word_that_is_nothing_is_one_line_with_the_nearest(ask: Ask) -> None:
    for words, told in (
        (["grad"], "no such command or file: grad (did you mean grade?) (see rollscope --help)"),
        (["grade", "r.jsonl", "--datset=d"], "unrecognized arguments: --datset=d (did you mean --dataset or "),
    ):
        assert ask(*words) == 2
        assert one_line(ask.err).startswith(f"rollscope: {told}")


def test_a_file_is_opened(ask: Ask) -> None:
    assert ask("r.jsonl", "--dataset", "none") == 2
    assert one_line(ask.err) == "rollscope: none: no such file: give --dataset one file of tasks"


@pytest.mark.parametrize(
    ("rate", "status", "told"),
    [
        ("0.5", 0, ""),
        ("50%", 0, ""),
        ("51%", 1, "rollscope: pass@1 is 50.0%: --fail-under is 51.0%\n"),
        ("50", 2, "50 is out of range: give a number from 0 to 1, or a percentage, 50%"),
        ("101%", 2, "101% is out of range"),
        ("half", 2, "half is out of range"),
    ],
)
def test_a_run_below_the_rate_is_a_finding(rate: str, status: int, told: str, ask: Ask) -> None:
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "-q", "--fail-under", rate) == status
    assert told in ask.err if told else not ask.err


def test_what_can_not_be_graded_has_not_passed_at_the_gate(ask: Ask) -> None:
    write_rows(ask.folder / "r.jsonl", sample("a", "42", "answer"), sample("b", "42", "gone"))
    told = (
        "pass@1 is 50.0% with 1 of 2 rollouts not graded (1 unknown, 0 sandbox_error), which count as not passed: "
        "--fail-under is "
    )
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "-q", "--fail-under", "51%") == 1
    assert ask.err == f"rollscope: {told}51.0%\n"
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "--fail-under", "50%") == 0
    assert ask.err == f"note: {told}50.0%\n"
    write_rows(ask.folder / "r.jsonl", sample("b", "42", "gone"))
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "-q", "--fail-under", "0") == 1
    assert ask.err == "rollscope: nothing could be graded (1 unknown, 0 sandbox_error): --fail-under is 0.0%\n"


def test_a_run_in_place_of_rollouts_is_told_with_the_command_that_gates_it(ask: Ask) -> None:
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "-o", "run", "-q") == 0
    assert ask("grade", "run", "--fail-under", "51%") == 2
    command = one_line(ask.err).partition(
        "rollscope: run: is a run: this grades what it lacks, also with --fail-under: "
    )[2]
    assert ask(*shlex.split(command)[1:], "--fail-under", "51%") == 1


def test_stderr_may_hold_errors_alone_or_json(ask: Ask) -> None:
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "--log-json", "--grader", "none") == 2
    record = json.loads(one_line(ask.err))
    assert (record["level"], record["message"][:20]) == ("error", "grader 'none' is unk")
    (ask.folder / "r.jsonl").write_text("{broken\n" + (ask.folder / "r.jsonl").read_text())
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "--log-json") == 0
    assert any("not JSON" in json.loads(line)["message"] for line in ask.err.splitlines())
    assert ask("grade", "r.jsonl", "-d", "d.jsonl", "--quiet") == 0
    assert (ask.err, "bad lines" in ask.out) == ("", True)


@pytest.mark.parametrize(
    ("task_id", "dataset"), [("HumanEval/3", "HumanEval: https"), ("abc301_a", "LiveCodeBench: https"), ("x", "")]
)
def test_without_a_dataset_the_one_that_the_ids_look_like_is_named(task_id: str, dataset: str, ask: Ask) -> None:
    write_rows(ask.folder / "r.jsonl", sample("s", "pass", task_id))
    assert ask("grade", "r.jsonl") == 2
    assert "Missing option '--dataset'" in one_line(ask.err)
    assert ("the ids look like those of" in ask.err) == bool(dataset)
    assert dataset in ask.err


def test_a_shell_completes(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(ask.folder))
    assert ask("--install-completion", "csh") == 2
    assert ask("--install-completion", "bash") == 0
    file = ask.out.partition(": ")[0]

    def completed(*words: str) -> list[str]:
        line = f"source {file}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _rollscope; "
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = ["bash", "-c", line + 'printf "%s\\n" "${COMPREPLY[@]}"']
        return subprocess.check_output(command, env=environment(PATH=path), text=True).split()

    assert completed("rollscope", "ex") == ["export"]
    assert completed("rollscope", "grade", "--data") == ["--dataset", "--dataset-format", "--dataset-map"]
    assert completed("rollscope", "grade", "--engine", "") == ["local", "ray"]
    assert completed("rollscope", "serve", "n") == ["nemo-gym"]
    assert completed("rollscope", "grade", "r") == []


def test_caches_are_listed_and_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert json.loads(rollscope("cache", "--json", cwd=tmp_path).stdout)["caches"] == []
    for name in ("grades", "tables"):
        (tmp_path / "rollscope" / name).mkdir(parents=True)
        (tmp_path / "rollscope" / name / "file").write_bytes(b"12345")
    assert "no cache grade (did you mean grades?)" in rollscope("cache", "grade", cwd=tmp_path).stderr
    found = json.loads(rollscope("cache", "grades", "--clear", "--json", cwd=tmp_path).stdout)
    assert (found["cleared"], found["caches"]) == (True, [{"name": "grades", "bytes": 5}])
    assert [path.name for path in (tmp_path / "rollscope").iterdir()] == ["tables"]
