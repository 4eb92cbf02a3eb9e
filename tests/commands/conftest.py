"""Run alone: .venv/bin/python -m pytest tests/commands"""

from pathlib import Path

import pytest

from tests.commands.command_line import ADD, ECHO, RIGHT, UNTESTED, WRONG, Ask, Done, rollscope, sample, write_rows


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "d.jsonl", ADD, ECHO, UNTESTED)


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return Ask(tmp_path)


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    folder = tmp_path_factory.mktemp("graded")
    data = write_rows(folder / "d.jsonl", ADD, ECHO, UNTESTED)
    rollouts = folder / "r.rollouts.jsonl"
    write_rows(
        rollouts,
        sample("a", RIGHT, expected_pass=True, model="m"),
        sample("b", WRONG, expected_pass=True),
        sample("c", RIGHT),
        sample("a", WRONG),
        sample("e", "print(input())", "echo"),
        sample("f", "1 / 0", "echo", expected_pass=False),
        sample("g", RIGHT, "nowhere"),
        sample("h", "print(1)", "untested"),
    )
    with rollouts.open("a") as file:
        file.write('{"task_id": "add", "completion"\n')
    return folder, rollscope("grade", rollouts, "--dataset", data, "--output", "run", "--json", cwd=folder)
