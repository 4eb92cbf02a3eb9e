"""A rollouts file opens without being graded: each row once, with its line, its texts, and what has changed since."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evaluator.formats import FormatError, Role, load_rollouts
from evaluator.formats.reading.file_layout import layout_of
from evaluator.runs import indexing, scanning
from evaluator.runs.indexing import BuildStoppedError, File, Indexer, RolloutSource, State, update
from evaluator.runs.ungraded import Dataset, IndexedFile

Row = dict[str, Any]


def row(task: str, number: int, **more: object) -> Row:
    return {"task_id": task, "sample_id": f"{task}/{number}", "completion": f"def f(): return {number}", **more}


def written(path: Path, rows: Iterable[Row | str]) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def source_of(*paths: Path) -> RolloutSource:
    return RolloutSource(str(paths[0]), tuple(File(str(path), str(path)) for path in paths))


def opened(*paths: Path) -> tuple[State, IndexedFile]:
    return update(source_of(*paths)), IndexedFile.of(source_of(*paths))


def rows_of(run: IndexedFile, columns: str = "sample_id", rest: str = 'ORDER BY "row"') -> list[tuple[Any, ...]]:
    with run.connect() as connection:
        return connection.sql(f"SELECT {columns} FROM rollouts {rest}").fetchall()


def test_the_index_has_what_reading_the_file_gives(tmp_path: Path) -> None:
    rows: list[Row | str] = [{"task_id": "t", "completion": str(n), "model": f"m{n % 2}"} for n in range(7)]
    rows += [row("t", 9), "{broken", row("t", 9), row("u", 4, reward=0.5), row("u", 5, sample_index=7)]
    rows += ["", row("v", 6, step=3, note="x")]
    path = written(tmp_path / "r.jsonl", rows)
    state, run = opened(path)
    problems: list[int] = []
    read = list(load_rollouts(path, on_problem=lambda problem: problems.append(problem.line)))
    columns = "task_id, sample_id, sample_index, model, step, given_reward, completion"
    assert rows_of(run, columns) == [tuple(getattr(r, name) for name in columns.split(", ")) for r in read]
    assert rows_of(run, "sample_id, source_line, completion")[-1] == ("v/6", 14, "def f(): return 6")
    assert [line for (line,) in rows_of(run, "source_line")] == [r.line for r in read]
    assert json.loads(rows_of(run, "metadata")[-1][0]) == {"note": "x"}
    assert state.manifest.problems_total == 2
    assert sorted(problem.line for problem in run.manifest.problems) == problems == [9, 10]


def test_a_large_file_is_read_by_several_processes_as_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "ALONE_BYTES", 100_000)
    monkeypatch.setattr(scanning, "SPAN_BYTES", 10_000)
    rows = [row("t", n, filler="x" * n) if n % 100 else f"{{bad {n}" for n in range(500)]
    state, run = opened(written(tmp_path / "r.jsonl", rows))
    assert rows_of(run, "sample_id, source_line") == [(f"t/{n}", n + 1) for n in range(500) if n % 100]
    assert [problem.line for problem in run.manifest.problems] == [1, 101, 201, 301, 401]
    assert state.manifest.problems_total == 5
    assert rows_of(run, "completion", "WHERE source_line = 499") == [("def f(): return 498",)]


def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row("a", n) for n in range(3)])
    update(source_of(path))

    def refuse(done: int, total: int) -> None:
        raise BuildStoppedError(f"{done} of {total}")

    assert update(source_of(path), refuse).rows == 3


def test_lines_that_are_added_are_added(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [{"task_id": "a", "completion": "x"}, row("a", 5)])
    opened(path)
    append(path, json.dumps({"task_id": "a", "completion": "y"}) + "\n" + json.dumps(row("a", 5)) + "\n")
    state, run = opened(path)
    assert rows_of(run, '"row", sample_id, sample_index, source_line') == [
        (0, "a#0", 0, 1),
        (1, "a/5", 5, 2),
        (2, "a#2", 2, 3),
    ]
    assert state.manifest.problem_reasons == {"repeated id": 1}


def test_a_half_written_last_line_is_no_bad_line(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row("a", 0)])
    text = json.dumps(row("a", 1))
    append(path, text[:20])
    state, run = opened(path)
    assert (state.rows, state.manifest.problems_total, state.files[0].partial) == (1, 0, 20)
    append(path, text[20:])
    state, run = opened(path)
    assert (state.rows, state.manifest.problems_total, state.files[0].partial) == (2, 0, 0)
    append(path, "\n" + json.dumps(row("a", 2)) + "\n")
    _, run = opened(path)
    assert rows_of(run, "sample_id, source_line") == [("a/0", 1), ("a/1", 2), ("a/2", 3)]


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ([row("b", 0)], "was truncated"),
        ([row("b", n) for n in range(20)], "was replaced"),
        ([row("b", n) for n in range(3)], "was replaced"),
    ],
)
def test_a_file_that_was_truncated_or_replaced_is_read_again_and_says_so(
    tmp_path: Path, after: list[Row], said: str
) -> None:
    path = written(tmp_path / "r.jsonl", [row("a", n) for n in range(3)])
    opened(path)
    written(path, after)
    state, run = opened(path)
    assert said in state.notice
    assert [sample for (sample,) in rows_of(run)] == [each["sample_id"] for each in after]


@pytest.mark.parametrize("pack", [bytes, partial(gzip.compress, compresslevel=1)], ids=["plain", "gzip"])
def test_a_reading_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "SPAN_BYTES", 5_000)
    monkeypatch.setattr(indexing, "PART_ROWS", 200)
    path = written(tmp_path / "r.jsonl", [row("t", n) for n in range(900)])
    path.write_bytes(pack(path.read_bytes()))
    source = source_of(path)

    def stop_late(done: int, total: int) -> None:
        if done > total * 0.7:
            raise BuildStoppedError

    with pytest.raises(BuildStoppedError):
        update(source, stop_late)
    so_far = IndexedFile.of(source).state
    assert 0 < so_far.rows < 900
    assert not so_far.complete
    state = update(source)
    assert (state.rows, state.complete) == (900, True)
    assert rows_of(IndexedFile.of(source), "sample_id, source_line") == [(f"t/{n}", n + 1) for n in range(900)]


def test_the_first_rows_can_be_shown_while_the_rest_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "SPAN_BYTES", 5_000)
    source = source_of(written(tmp_path / "r.jsonl", [row("t", n) for n in range(900)]))

    def stop_at_once(done: int, total: int) -> None:
        raise BuildStoppedError(f"{done} of {total}")

    with pytest.raises(BuildStoppedError):
        update(source, stop_at_once)
    assert 0 < IndexedFile.of(source).state.rows < 200


@pytest.mark.parametrize("text", ['[{"task_id": "a", "completion": 5}]', '{"task_id": "a", "completion": 5}\n'])
def test_a_bad_row_is_counted_once_however_often_the_file_is_looked_at(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    assert [opened(path)[0].manifest.problems_total for _ in range(3)] == [1, 1, 1]


def test_what_was_not_opened_for_a_month_leaves_the_cache(tmp_path: Path) -> None:
    old, new = (written(tmp_path / f"{name}.jsonl", [row("a", 0)]) for name in ("old", "new"))
    folder = opened(old)[1].path
    os.utime(folder, (0, 0))
    assert opened(new)[0].rows == 1
    assert not folder.exists()
    assert opened(old)[0].rows == 1


def test_files_are_one_source_with_unique_samples(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{text}.jsonl", [{"task_id": "a", "completion": text}]) for text in "xy"]
    _, run = opened(*files)
    assert rows_of(run, "sample_id, completion, source_line") == [("a#0", "x", 1), ("a#1", "y", 1)]


def test_recorded_grades_are_shown(tmp_path: Path) -> None:
    recorded = row("a", 0, recorded_verdict="time_limit", recorded_word="timed out", recorded_by="x")
    _, run = opened(written(tmp_path / "r.jsonl", [recorded, row("a", 1)]))
    assert rows_of(run, "verdict, reward, recorded_verdict, recorded_word, recorded_by, verified") == [
        ("time_limit", 0.0, "time_limit", "timed out", "x", False),
        ("unknown", None, None, None, None, False),
    ]


def test_a_text_of_a_file_that_has_changed_is_an_error_not_another_text(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row("a", n) for n in range(3)])
    _, run = opened(path)
    path.write_text("\n" * 10_000)
    with pytest.raises(Exception, match="has changed since it was opened"):
        rows_of(run, "completion")


def test_the_prompt_comes_from_the_rollouts_where_there_is_no_dataset(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row("a", 0, prompt="Write f."), row("a", 1)])
    _, run = opened(path)
    with run.connect() as connection:
        assert connection.sql("SELECT task_id, prompt FROM tasks").fetchall() == [("a", "Write f.")]


def test_tasks_of_a_dataset_are_read_when_they_are_shown(tmp_path: Path) -> None:
    dataset = written(
        tmp_path / "d.jsonl",
        [
            {"task_id": "a", "prompt": "P", "in_outs": {"inputs": ["1"], "outputs": ["1"]}},
            "broken",
            {"task_id": "b", "prompt": "Q", "mode": "assert", "entry_point": "f", "test": "assert f() == 1"},
        ],
    )
    path = written(tmp_path / "r.jsonl", [row("a", 0)])
    update(source_of(path))
    run = IndexedFile.of(source_of(path), Dataset(str(dataset)))
    with run.connect() as connection:
        found = connection.sql("SELECT task_id, prompt, mode, tests_total, test FROM tasks ORDER BY ALL").fetchall()
    assert found == [("a", "P", "stdin", 1, None), ("b", "Q", "assert", 0, "assert f() == 1")]
    assert [task.task_id for task in run.tasks()] == ["a", "b"]


def test_the_index_is_in_the_cache_and_small(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row("a", n, filler="x" * 5_000) for n in range(200)])
    opened(path)
    folder = source_of(path).folder
    assert folder.is_relative_to(Path(os.environ["XDG_CACHE_HOME"]) / "rollscope")
    assert sum(file.stat().st_size for file in folder.iterdir()) < path.stat().st_size / 20


def test_a_source_that_grows_line_by_line_has_few_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "MOST_SMALL_PARTS", 4)
    path = written(tmp_path / "r.jsonl", [row("a", 0)])
    parts = []
    for number in range(1, 15):
        state, run = opened(path)
        parts.append(len(state.parts))
        append(path, json.dumps(row("a", number)) + "\n")
    assert parts == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2]
    assert [sample for (sample,) in rows_of(run)] == [f"a/{number}" for number in range(14)]
    assert len(list((run.path / "rollouts").iterdir())) < 8


FILES = Path(__file__).parents[1] / "formats" / "files"


def rollouts_files() -> Iterator[Any]:
    """Those beyond the first of each format are slow."""
    seen: set[object] = set()
    for path in sorted(path for path in FILES.rglob("*") if path.is_file() and path.suffix not in (".md", ".pt")):
        try:
            layout = layout_of(path, Role.ROLLOUTS)
        except FormatError:
            continue
        kind = layout.format.name
        yield pytest.param(path, id=str(path.relative_to(FILES)), marks=[pytest.mark.slow] if kind in seen else [])
        seen.add(kind)


@pytest.mark.parametrize("path", list(rollouts_files()))
def test_every_format_opens_as_it_is_read(path: Path) -> None:
    read = list(load_rollouts(path, on_problem=lambda _: None))
    _, run = opened(path)
    columns = "task_id, sample_id, sample_index, model, step, given_reward, recorded_verdict, completion"
    assert rows_of(run, columns) == [tuple(getattr(r, name) for name in columns.split(", ")) for r in read]


_WRITER = """
import json, random, sys
path, count, blocks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chosen = random.Random(5)
text = "\\u00e9\\U0001f40d"
rows = [{"task_id": f"t{n % 40}", "sample_id": f"s{n}", "completion": text * (n % 50)} for n in range(count)]
data = "".join(json.dumps(row, ensure_ascii=False) + "\\n" for row in rows).encode()
at = 0
with open(path, "ab", buffering=0) as file:
    for block in range(1, blocks + 1):
        sys.stdin.readline()
        end = len(data) * block // blocks
        while at < end:
            at += file.write(data[at : min(end, at + chosen.choice((1, 7, 300, 5_000)))])
        print("written", flush=True)
"""


@pytest.mark.slow
def test_of_a_file_that_is_read_while_it_is_written_no_row_is_lost_or_doubled(tmp_path: Path) -> None:
    """The writer's pieces end anywhere: within a line, and within a character."""
    path, count, blocks = tmp_path / "r.jsonl", 4_000, 12
    append(path, json.dumps(row("first", 0)) + "\n")
    source = source_of(path)
    indexer, reads = Indexer(source), set()
    command = [sys.executable, "-c", _WRITER, str(path), str(count), str(blocks)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for _ in range(blocks):
            writer.stdin.write("\n")
            reads.add(indexer.update().rows)  # while the block is written
            assert writer.stdout.readline() == "written\n"
    state = indexer.update()
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert len(reads) >= blocks // 2  # each sees at least the block before; two may see the same
    assert (state.rows, state.manifest.problems_total, len(found)) == (count + 1, 0, count + 1)
    indexed = rows_of(IndexedFile.of(source), "sample_id, source_line, completion")
    wanted = [(each["sample_id"], line, each["completion"]) for line, each in enumerate(found, start=1)]
    assert [one for one in zip(indexed, wanted, strict=True) if one[0] != one[1]] == []


def test_a_new_file_that_can_not_be_read_yet_does_not_keep_the_others_from_it(tmp_path: Path) -> None:
    first, later, empty = written(tmp_path / "a.jsonl", [row("a", 0)]), tmp_path / "b.jsonl", tmp_path / "c.jsonl"
    source = source_of(first, later, empty)
    later.write_text('{"task_id": "b", "compl')
    empty.touch()
    with pytest.raises(
        FormatError, match=r"b\.jsonl: has no usable row: line 1: .* \(1 more of the files can't be read"
    ):
        update(source)
    written(empty, [row("c", 0)])
    append(first, json.dumps(row("a", 1)) + "\n")
    with pytest.raises(FormatError, match=r"b\.jsonl"):
        update(source)
    assert {sample for (sample,) in rows_of(IndexedFile.of(source))} == {"a/0", "a/1", "c/0"}
    append(later, 'etion": "x"}\n')
    assert update(source).rows == 4


def test_a_file_of_several_that_is_gone_is_reported(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{name}.jsonl", [row(name, 0)]) for name in "ab"]
    both = source_of(*files)
    update(both)
    files[1].unlink()
    state = update(RolloutSource(both.name, both.files[:1]))
    assert (state.rows, state.notice) == (1, f"{files[1]} is gone: the other files were read again")
