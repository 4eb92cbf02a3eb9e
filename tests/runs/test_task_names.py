"""Tasks without an id of their own are told apart by the words of their prompts."""

import duckdb
import pytest

from evaluator.runs.task_names import names

_FAR = "x " * 2_500


@pytest.mark.parametrize(
    ("prompts", "shown"),
    [
        pytest.param(
            ["Write `lines(items)` in twos, in order", "Write `lines(items)` in threes, in order", "Write `sum`"],
            ["lines(items) in twos", "lines(items) in threes", "sum"],
            id="the name ends where the prompts differ",
        ),
        pytest.param(
            [f"You are a coder. {'Return ' * 12}the first", f"You are a coder. {'Return ' * 12}the last", "You sum"],
            ["are a coder. … the first", "are a coder. … the last", "sum"],
            id="however late that is",
        ),
        pytest.param(
            [f"Count_{'x' * 40}_{end} of it" for end in ("first", "second")],
            ["Count_xxxxxxxxxxxx … xxxx_first", "Count_xxxxxxxxxxxx … xxx_second"],
            id="in the middle of a long word",
        ),
        pytest.param(
            [f"Count words in {kind} {'that are long ' * 2}above {n}" for kind in ("x", "y") for n in "23"] + ["Sum"],
            [f"Count words … above {n} pt-{at}" for at, n in enumerate("2323")] + ["Sum"],
            id="in two places",
        ),
        pytest.param(["add", "add two"], ["add", "add two"], id="one is the beginning of another"),
        pytest.param([f"{_FAR}1", f"{_FAR}2"], ["x x x x … pt-0", "x x x x … pt-1"], id="beyond what is looked at"),
        pytest.param(["", "sum"], [None, "sum"], id="no prompt"),
    ],
)
def test_no_two_prompts_have_the_same_name(prompts: list[str], shown: list[str | None]) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE tasks (task_id VARCHAR, prompt VARCHAR)")
        ids = [f"prompt-{number}" for number in range(len(prompts))]
        connection.executemany("INSERT INTO tasks VALUES (?, ?)", list(zip(ids, prompts, strict=True)))
        found = names(lambda sql, params: connection.execute(sql, params).fetchall(), [*ids, "mbpp/1"])
    assert [found.get(task) for task in ids] == shown
    assert "mbpp/1" not in found
