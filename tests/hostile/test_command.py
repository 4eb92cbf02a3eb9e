"""The corpus of files, given to the command: a line for each problem, what is good is graded, and never a traceback."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evaluator.cli import main
from evaluator.runs.reading import Run
from tests.hostile.files import ADD, DATASETS, FILES, LINES, RIGHT, ROLLOUTS, TEXTS, named
from tests.hostile.requests import with_values

LONGEST_LINE = 2_000
CONTROL = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u202a\u202b\u202d\u202e\u2066\u2067\u2068"} - {
    *"\n\r\t"
}
GOOD_LINES = {"33 MiB", "NaN", "the same name twice", "a line separator", "half a surrogate pair"}


def some_fast(corpus: Mapping[str, object], *fast: str) -> list[Any]:
    """Parameters of which all but those named are `slow`."""
    return [
        pytest.param(value, id=name, marks=() if name in fast else pytest.mark.slow) for name, value in corpus.items()
    ]


class Said(NamedTuple):
    status: int
    out: str
    err: str


Ask = Callable[..., Said]


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str]) -> Ask:
    """The command in this process: what it raises beside its exit fails the test."""

    def asked(*words: object) -> Said:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        assert not CONTROL & set(printed.err)
        assert max(map(len, printed.err.splitlines()), default=0) < LONGEST_LINE
        if ended.value.code == 2 and not printed.out:
            assert printed.err.splitlines()[-1].startswith("rollscope: ")
        return Said(ended.value.code, printed.out, printed.err)

    return asked


def written(path: Path, *rows: object) -> Path:
    """A file of these rows, each bytes or what becomes JSON."""
    path.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows))
    return path


def rows(run: Path, columns: str) -> list[tuple[Any, ...]]:
    with Run.open(run).connect() as connection:
        return connection.sql(f"SELECT {columns} FROM rollouts").fetchall()


def bad_lines(said: Said, file: Path) -> set[int]:
    """The lines that `formats --check` names; no two of its lines are about one, and none is about nothing."""
    found = [line for line in said.out.splitlines() if line.startswith(f"{file}:")]
    numbers = [
        int(line.removeprefix(f"{file}:").partition(":")[0]) for line in found if line[len(f"{file}:")].isdigit()
    ]
    assert len(numbers) == len(set(numbers))
    return set(numbers)


@pytest.mark.parametrize("row", some_fast(DATASETS, "query_answer"))
def test_a_dataset_with_any_value_in_any_field_is_read(row: dict[str, Any], tmp_path: Path, ask: Ask) -> None:
    bodies = [body for _, body in with_values(row)]
    file = written(tmp_path / "d.jsonl", row, *bodies)
    said = ask("formats", file, "--check")
    assert said.status == 2
    assert bad_lines(said, file) <= set(range(2, len(bodies) + 2))
    for target in ("native", "nemo_gym"):
        assert ask("convert", file, tmp_path / f"{target}.jsonl", "--to", target).status in (0, 2)


@pytest.mark.parametrize("row", some_fast(ROLLOUTS))
def test_rollouts_with_any_value_in_any_field_are_graded(row: dict[str, Any], tmp_path: Path, ask: Ask) -> None:
    bodies = [body for _, body in with_values(row)]
    file, tasks, run = written(tmp_path / "r.jsonl", row, *bodies), written(tmp_path / "d.jsonl", ADD), tmp_path / "run"
    bad = bad_lines(ask("formats", file, "--check"), file)
    assert ask("grade", file, "--dataset", tasks, "--output", run).status == 0
    assert len(rows(run, "task_id")) == len(bodies) + 1 - len(bad)
    for ending in ("csv", "jsonl", "parquet"):
        assert ask("export", run, "--to", tmp_path / f"out.{ending}").status == 0


@pytest.mark.slow
def test_lines_among_good_ones_cost_only_themselves(tmp_path: Path, ask: Ask) -> None:
    first, last = RIGHT | {"sample_id": "first"}, RIGHT | {"sample_id": "last"}
    file = written(tmp_path / "r.jsonl", first, *LINES.values(), last)
    tasks, run = written(tmp_path / "d.jsonl", ADD, *LINES.values()), tmp_path / "run"
    bad = bad_lines(ask("formats", file, "--check"), file)
    assert ask("grade", file, "--dataset", tasks, "--output", run).status == 0
    found = [row for row in rows(run, "sample_id, verdict") if row[0] in ("first", "last")]
    assert sorted(found) == [("first", "passed"), ("last", "passed")]
    blank = {number for number, line in enumerate(LINES.values(), 2) if not line.strip()}
    odd_but_good = {number for number, name in enumerate(LINES, 2) if name in GOOD_LINES}
    assert bad == set(range(2, len(LINES) + 2)) - blank - odd_but_good
    assert bad <= {problem.line for problem in Run.open(run).manifest.problems if problem.path == str(file)}


@pytest.mark.parametrize("content", some_fast(FILES, "nothing", "NUL", "UTF-16", "half a Zstandard"))
def test_a_file_of_anything_is_one_line(content: bytes | Callable[[], bytes], tmp_path: Path, ask: Ask) -> None:
    file, good, tasks = tmp_path / "file", written(tmp_path / "r.jsonl", RIGHT), written(tmp_path / "d.jsonl", ADD)
    file.write_bytes(content() if callable(content) else content)
    assert ask("formats", file, "--check").status == 2
    assert ask("grade", file, "--dataset", tasks, "--output", tmp_path / "one").status in (0, 2)
    assert ask("grade", good, "--dataset", file, "--output", tmp_path / "two").status in (0, 2)
    assert ask("convert", file, tmp_path / "out.jsonl", "--to", "native").status in (0, 2)


@pytest.mark.slow
def test_names_of_any_text_go_through_every_command(tmp_path: Path, ask: Ask) -> None:
    tasks, rollouts = named()
    file, dataset = written(tmp_path / "r.jsonl", *rollouts), written(tmp_path / "d.jsonl", *tasks)
    run = tmp_path / "run"
    assert ask("grade", file, "--dataset", dataset, "--output", run).status == 0
    found = {task for task, verdict in rows(run, "task_id, verdict") if verdict == "passed"}
    assert len(found) >= len([name for name in TEXTS.values() if name.strip()])
    for ending in ("csv", "jsonl", "parquet"):
        for per in ("rollout", "case"):
            assert ask("export", run, "--per", per, "--to", tmp_path / f"{per}.{ending}").status == 0
    assert len((tmp_path / "rollout.jsonl").read_text().splitlines()) == len(found) * 3
    assert ask("audit", run, "--checkers", "floats,colossalai").status in (0, 1)
    assert ask("check", dataset).status in (0, 1)
    assert ask("convert", dataset, tmp_path / "out.jsonl", "--to", "nemo_gym").status == 0
    assert {path.name for path in tmp_path.iterdir()} <= {
        "r.jsonl", "d.jsonl", "run", "out.jsonl",
        *(f"{per}.{ending}" for per in ("rollout", "case") for ending in ("csv", "jsonl", "parquet")),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["", "nowhere", "\n<b>", "\x1b[31m\u202e", "a" * 300, "nul\0"], ids=repr)
def test_a_path_of_anything_is_one_line(name: str, tmp_path: Path, ask: Ask) -> None:
    good, tasks = written(tmp_path / "r.jsonl", RIGHT), written(tmp_path / "d.jsonl", ADD)
    path = f"{tmp_path}/{name}" if name else tmp_path / "folder"
    (tmp_path / "folder").mkdir()
    for words in (
        ("formats", path), ("grade", path, "--dataset", tasks, "--output", tmp_path / "run"), ("export", path),
        ("grade", good, "--dataset", path, "--output", tmp_path / "run"), ("check", path),
        ("audit", path, "--checkers", "lines"), ("convert", path, tmp_path / "out", "--to", "native"),
    ):  # fmt: skip
        said = ask(*words)
        assert said.status == 2
        assert said.err.count("\n") == 1
