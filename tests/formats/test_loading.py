"""Loading: what a user sees for a broken file or row, and that the rest is still read."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import os
import re
import tarfile
import tracemalloc

import msgspec
import numpy as np
import pytest
import zstandard

from evaluator.formats import (
    FormatError,
    FormatWarning,
    Problem,
    Role,
    dataset_hash,
    load_rollouts,
    load_task,
    load_tasks,
    require_rows,
    sniff,
)
from tests.formats.conftest import loaded
from tests.formats.test_all_files import FILES


def sample(n, **fields):
    return {"task_id": "t", "sample_id": f"s{n}", "completion": f"x = {n}\n", **fields}


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def tar():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(__file__, "rows.jsonl")
    return packed.getvalue()


PACKINGS = {
    "plain": lambda data: data,
    "gzip members": lambda data: gzip.compress(data[:50]) + gzip.compress(data[50:]),
    "bzip2 streams": lambda data: bz2.compress(data[:50]) + bz2.compress(data[50:]),
    "xz streams, padded": lambda data: lzma.compress(data[:50]) + bytes(8) + lzma.compress(data[50:]),
    "zstd frames": lambda data: zstandard.compress(data[:50]) + zstandard.compress(data[50:]),
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("listed", [False, True], ids=["lines", "list"])
def test_the_same_rows_come_out_of_every_container_whatever_its_name(write, packing, listed):
    rows = [sample(n) for n in range(3)]
    data = json.dumps(rows, indent=1).encode() if listed else lines(*rows)
    path = write(PACKINGS[packing](data), "rows.bin")
    rollouts, problems = loaded(path)
    assert [r.sample_id for r in rollouts] == ["s0", "s1", "s2"]
    assert problems == []
    assert sniff(path).container.startswith("JSON list" if listed else "JSON lines")


def test_line_numbers_are_those_of_the_file(write):
    path = write(b"\xef\xbb\xbf\n\r\n" + lines(sample(1)) + b"  \n" + lines(sample(2)).replace(b"\n", b"\r\n"))
    rollouts, problems = loaded(path)
    assert [r.line for r in rollouts] == [3, 5]
    assert problems == []


def test_a_broken_line_is_reported_with_number_cause_and_first_bytes_and_the_rest_loads(write):
    path = write(lines(sample(1)) + b'{"task_id": \x1b[31m oops}\n' + lines(sample(3)))
    rollouts, (problem,) = loaded(path)
    assert [r.sample_id for r in rollouts] == ["s1", "s3"]
    assert problem.line == 2
    assert str(problem).startswith(f"{path}:2: not JSON: ")
    assert r"{\"task_id\": \x1b[31m oops}".replace('\\"', '"') in str(problem)
    assert str(problem).isprintable()


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (b'{"a": "\xff"}', "not UTF-8 at byte 8 of the row: save the file as UTF-8"),
        (b"[1, 2]", "must be a JSON object, not a list"),
        (b"3", "must be a JSON object, not a number"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
        (b"\x00\x00\x00", "not JSON"),
        (b'{"task_id": "t"}', "completion is missing"),
        (b'{"completion": "x"}', "task_id is missing"),
        (b'{"task_id": "t", "completion": "x", "kind": "poem"}', "kind must be one of full,"),
        (b'{"task_id": "t", "completion": "x", "step": 1.5}', "step must be a whole number or null, not 1.5"),
        (
            b'{"task_id": "t", "completion": "x", "expected_pass": 3}',
            "expected_pass must be true, false or null, not 3",
        ),
        (b'{"task_id": "t", "completion": {"a": 1}}', "completion must be text or a list of messages"),
    ],
)
def test_each_kind_of_broken_row_is_one_clear_line(write, line, cause):
    rollouts, (problem,) = loaded(write(lines(sample(1)) + line + b"\n" + lines(sample(2))))
    assert len(rollouts) == 2
    assert problem.line == 2
    assert cause in problem.message
    assert "\n" not in str(problem)
    assert len(problem.snippet) <= 4 * 200 + 6


def test_a_half_written_last_line_is_said_to_be_one(write):
    assert loaded(write(lines(sample(1), sample(2))[:-1])) == loaded(write(lines(sample(1), sample(2))))
    rollouts, (problem,) = loaded(write(lines(sample(1)) + b"{'task_id': 1}"))
    assert problem.message.startswith("not JSON: "), "its object ends: it is wrong"
    rollouts, (problem,) = loaded(write(lines(sample(1), sample(2))[:-9]))
    assert [r.sample_id for r in rollouts] == ["s1"]
    assert "still being written?" in problem.message
    assert problem.line == 2


def test_a_half_written_list_is_said_to_be_one(write):
    text = json.dumps([sample(1), sample(2)]).encode()
    rollouts, (problem,) = loaded(write(text[:-9]))
    assert [r.sample_id for r in rollouts] == ["s1"]
    assert "still being written?" in problem.message


def test_a_list_keeps_its_other_elements_when_one_is_broken(write):
    one, two = lines(sample(1))[:-1], lines(sample(2))
    rollouts, problems = loaded(write(b"[" + one + b",\n{bad: [1,{}]},\n" + two + b"]\nx"))
    assert [r.sample_id for r in rollouts] == ["s1", "s2"]
    assert [(p.line, p.message[:14]) for p in problems] == [(2, "not JSON: Expe"), (5, "text after the")]


@pytest.mark.parametrize("listed", [False, True], ids=["line", "element"])
def test_a_row_that_is_too_long_is_left_out_without_being_held(write, listed, monkeypatch):
    monkeypatch.setattr("evaluator.formats.reading.containers.MAX_ROW_BYTES", 1 << 20)
    huge = b'{"task_id": "t", "completion": "' + b"x" * 20_000_000 + b'"}'
    small = [json.dumps(sample(n)).encode() for n in (1, 2)]
    data = b"[" + b",\n".join([small[0], huge, small[1]]) + b"]" if listed else b"\n".join([small[0], huge, small[1]])
    path = write(data)
    del data, huge
    tracemalloc.start()
    rollouts, (problem,) = loaded(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [r.sample_id for r in rollouts] == ["s1", "s2"]
    assert problem.line == 2
    assert "20.0 MB, more than the limit of 1 MiB per row" in problem.message
    assert peak < 10_000_000


def test_a_row_of_40_mb_is_held_as_json_and_as_values_alone(write):
    path = write(lines(sample(1), sample(2, completion="x" * 40_000_000), sample(3)))
    tracemalloc.start()
    read = [(rollout.sample_id, len(rollout.completion)) for rollout in load_rollouts(path)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [sample_id for sample_id, _ in read] == ["s1", "s2", "s3"]
    assert read[1][1] == 40_000_000
    assert peak < 90_000_000


def test_loading_streams(write):
    path = write(lines(*(sample(n, completion="x" * 1000) for n in range(5000))))
    tracemalloc.start()
    count = sum(1 for _ in load_rollouts(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 5000
    assert peak < 3_500_000 < path.stat().st_size


NULS, BOM = b"\0" * 5000, codecs.BOM_UTF8
ONE, TWO, THREE = (lines(sample(n))[:-1] for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("data", "names", "bad"),
    [
        (NULS + ONE + b"\n" + BOM + TWO + b"\n" + NULS + THREE, ["s1", "s2", "s3"], []),
        (ONE + b"\n" + TWO[:20] + NULS + THREE + b"\n", ["s1", "s3"], [2]),
        (ONE + b"\n" + TWO[:20] + NULS + TWO[30:] + b"\n" + THREE, ["s1", "s3"], [2]),
        (ONE + b"\n" + TWO + BOM + THREE, ["s1", "s2", "s3"], []),
        (ONE + b"\n" + NULS + b"\n" + THREE, ["s1", "s3"], [2]),
        (b"[" + ONE + b",\n" + NULS + TWO + b"]" + BOM + b"[" + THREE + b",]", ["s1", "s2", "s3"], []),
        (b"{\n" + ONE[1:] + b"\n" + BOM + TWO + NULS + THREE, ["s1", "s2", "s3"], []),
        (b"sample_id,task_id,completion\ns1,t,x\n" + BOM + b"sample_id,task_id,completion\n" + NULS + b"s2,t,x\n"
            b's3,t,"' + NULS + b'"\ns4,t,x\n', ["s1", "s2", "s4"], [5]),
    ],
)  # fmt: skip
def test_a_crash_or_joined_files_cost_no_other_row(write, data, names, bad):
    rollouts, problems = loaded(write(data))
    assert [r.sample_id for r in rollouts] == names
    assert [problem.line for problem in problems] == bad
    assert all("NUL bytes" in problem.message for problem in problems)


def test_semicolons_may_separate_columns_and_a_header_alone_is_said_to_be_one(write):
    header = BOM + b"task_id;completion;passed\n"
    rollouts, problems = loaded(write(header + b't;"a;b\nc";true\n', "rows.csv"))
    assert ([(r.task_id, r.completion) for r in rollouts], problems) == ([("t", "a;b\nc")], [])
    rollouts, (problem,) = loaded(write(header, "rows.csv"))
    assert rollouts == []
    assert problem.message.startswith("there is no row after the first, which names the fields (task_id, completion")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html>", "is a web page: download the file itself"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"),
        (b" \n\n", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"PAR1\x00\x00", "is a Parquet file"),
        (b"\x80\x04\x95abc", "is a pickle"),
        (bytes(range(256)) * 20, "is a binary file"),
        (b"\xff\xfe{\x00", "UTF-16 text: save it as UTF-8"),
        *(
            (lines(sample(1)).decode().encode(name), f"{name[:6].upper()} text: save it as UTF-8")
            for name in ("utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
        ),
        (tar(), "is a tar archive: unpack it"),
        (gzip.compress(tar(), mtime=0), "is a tar archive: unpack it"),
        (b"\0" * 9000, "has only NUL bytes"),
        (b'{\n "task_id": "t"\n}\n', ":1: no known format has these fields (task_id)"),
        (b"\x1f\x8b\x08rubbish", "can't be decompressed"),
        (b"\x28\xb5\x2f\xfd" + b"rubbish" * 9, "can't be decompressed"),
        (b"a word\nand another\n" * 600, "none of the first 1,000 lines is a JSON object"),
        (b'{"a": 1, "b": 2}\n', ":1: no known format has these fields (a, b)"),
    ],
)
def test_a_file_that_is_something_else_is_refused_in_one_line(write, data, message):
    path = write(data)
    with pytest.raises(FormatError) as raised:
        list(load_tasks(path, on_problem=lambda problem: None))
    assert str(raised.value).startswith(str(path))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_directory_and_a_missing_file_are_refused_at_once(tmp_path):
    with pytest.raises(FormatError, match="is a directory: pass a file in it"):
        load_tasks(tmp_path)
    with pytest.raises(FormatError, match="no such file: check the path"):
        load_rollouts(tmp_path / "nothing.jsonl")
    with pytest.raises(FormatError, match="can't be opened"):
        load_rollouts("a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_refused(write):
    path = write(lines(sample(1)))
    path.chmod(0)
    with pytest.raises(FormatError, match="check its permissions"):
        load_rollouts(path)


def test_rollouts_given_for_tasks_are_noticed(write):
    path = write(lines(sample(1)))
    with pytest.raises(FormatError, match=r"holds rollouts \(native\), not tasks"):
        list(load_tasks(path))
    tasks = write(lines({"task_id": "t", "mode": "stdin", "prompt": "p"}), "tasks.jsonl")
    with pytest.raises(FormatError, match=r"holds tasks \(native\), not rollouts"):
        list(load_rollouts(tasks))


def test_a_file_without_a_usable_row_yields_nothing_and_require_rows_says_so(write):
    path = write(b"{broken\n[1]\n")
    problems = []
    rollouts = load_rollouts(path, on_problem=problems.append)
    with pytest.raises(FormatError, match="has no usable row"):
        require_rows(rollouts, path)
    assert [problem.line for problem in problems] == [1, 2]
    empty = write("[]")
    with pytest.raises(FormatError, match="has no row: it is an empty list"):
        require_rows(load_rollouts(empty), empty)
    assert list(require_rows(iter(["a", "b"]), path)) == ["a", "b"]


def test_a_duplicate_sample_id_is_reported_with_both_lines_and_the_first_kept(write):
    rollouts, (problem,) = loaded(write(lines(sample(1, model="a"), sample(2), sample(1, model="b"))))
    assert [(r.sample_id, r.model) for r in rollouts] == [("s1", "a"), ("s2", None)]
    assert problem.line == 3
    assert "sample_id 's1' is already on line 1" in problem.message


def test_a_duplicate_task_id_is_reported_with_both_lines_and_the_first_kept(write):
    rows = [{"task_id": 7, "mode": "stdin", "prompt": text} for text in ("first", "second")]
    tasks, problems = loaded(write(lines(*rows)), load_tasks)
    assert [task.prompt for task in tasks] == ["first"]
    assert [p.message.split(":")[0] for p in problems] == ["task_id '7' is already on line 1"]


def test_rows_without_ids_are_numbered_by_task_and_by_model(write):
    rows = [
        {"task_id": task, "completion": "x", "model": model}
        for task, model in (("a", "m"), ("b", "m"), ("a", "m"), ("a", "k"))
    ]
    rollouts, _ = loaded(write(lines(*rows)))
    assert [r.sample_id for r in rollouts] == ["a#0", "b#0", "a#1", "a#2"]
    assert [r.sample_index for r in rollouts] == [0, 0, 1, 0]


def test_the_number_at_the_end_of_a_sample_id_is_its_index_whatever_the_order(write):
    rows = [{"task_id": "a", "completion": "x", "sample_id": name} for name in ("a/m/7", "a#2", "first", "a-b0")]
    rollouts, _ = loaded(write(lines(*rows)))
    assert [r.sample_index for r in rollouts] == [7, 2, 2, 3]


def test_python_json_extras_are_accepted(write):
    row = b'{"task_id": "t", "completion": "\\ud800 x", "reward": NaN, "seed": Infinity, "big": 1e400}\n'
    (rollout,), problems = loaded(write(row))
    assert rollout.completion == "\ud800 x"
    assert rollout.given_reward != rollout.given_reward
    assert problems == []


CASES = ["assert f(1) == 1"]


@pytest.mark.parametrize(
    ("row", "places", "options"),
    [
        ({"task_id": "t", "completions": ["a", 3, None, {"text": "b"}, {"x": 1}]}, (
            "completions[1]: ", "completions[2]: ", "completions[4]: "), {}),
        ({"task_id": "t", "completions": ["a", "b"], "rewards": [1, 2], "sample_ids": ["x", []]}, (
            "completions[1]: ",), {}),
        ({"id": 1, "question": "q", "test_cases": CASES, "inferences": ["a", 3, "b"]}, ("inferences[1] ",), {}),
        ({"eval": {"HumanEval/0": [{"solution": "a", "base_status": "pass", "sample_id": []}, {"solution": "b"}]}}, (
            "eval['HumanEval/0'][0]: ",), {}),
        ({"raw_generations": {"s": ["a", 3]}, "raw_scored_generations": {"s": [True]}}, (
            "raw_generations['s'][1] ",), {}),
        ({"question_id": "q", "output_list": ["a", 3, "b"], "code_list": []}, ("output_list[1] ",), {
            "format": "livecodebench"}),
        ({"task_id": "t", "predict": ["a", 3, "b"]}, ("predict[1]: ",), {}),
        ({"s0": [], "s1": ["a", "b"], "s2": [], "s3": ["b"]}, (
            "'s0': completions is empty", "'s2': completions is empty"), {}),
        ({"uid": 1, "s": [{"t": "a"}, {"t": 3}]}, ("element 1: ",), {
            "field_map": {"task_id": "uid", "completion": "s[*].t"}}),
    ],
)  # fmt: skip
def test_a_wrong_sample_is_named_and_the_others_of_its_row_are_kept(write, row, places, options):
    rollouts, problems = loaded(write(lines(row)), **options)
    assert {r.completion for r in rollouts} <= {"a", "b"}
    assert [problem.message[: len(place)] for problem, place in zip(problems, places, strict=True)] == [*places]
    assert rollouts


@pytest.mark.parametrize("name", ["completions", "inferences"])
def test_a_row_whose_list_of_samples_is_empty_is_a_bad_one(write, name):
    row = {"task_id": "t", "id": 1, "question": "q", "test_cases": CASES, name: ["a"]}
    rollouts, (problem,) = loaded(write(lines(row, row | {name: []})))
    assert len(rollouts) == 1
    assert (problem.line, "is empty" in problem.message) == (2, True)


def test_without_a_callback_problems_are_warnings(write):
    path = write(lines(sample(1)) + b"{\n")
    with pytest.warns(FormatWarning, match=r"rows\.jsonl:2: "):
        list(load_rollouts(path))


def test_the_format_is_detected_or_named(write):
    path = write(lines({"task_id": "HumanEval/0", "completion": "    return 1\n"}))
    assert (sniff(path).format, sniff(path).role) == ("humaneval", Role.ROLLOUTS)
    assert [match.format for match in sniff(path).others] == ["native"]
    with pytest.raises(FormatError, match=r"format 'parquet' is unknown: for rollouts, use one of .*native"):
        load_rollouts(path, "parquet")
    with pytest.raises(FormatError, match="format 'apps' has no rollouts"):
        load_rollouts(path, "apps")


@pytest.mark.parametrize("name", ["livecodebench.jsonl", "mbpp.jsonl", "HumanEval.jsonl.gz", "apps.jsonl"])
def test_a_row_alone_is_read_as_in_its_file(name):
    path = FILES / name
    rows = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).splitlines()
    task = next(load_tasks(path))
    row = json.loads(rows[task.line - 1])
    as_arrays = {
        name: np.array(value, object) if isinstance(value, list | int) else value for name, value in row.items()
    }
    assert load_task(row) == load_task(as_arrays) == msgspec.structs.replace(task, line=0)


def test_a_row_alone_may_have_its_format_or_its_fields_named():
    assert load_task({"uid": 7, "check": "assert f(1) == 1"}, field_map={"task_id": "uid", "test": "check"}).test
    assert load_task({"task_id": "t", "prompt": "Say hello."}).is_undecided
    assert load_task({"task_id": "t", "prompt": "?", "hint": "!"}, "native").metadata == {"hint": "!"}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"a": 1}, "the row: no known format has these fields (a): give a task's row, and name its format or map its"),
        (sample(1), "the row: holds rollouts (native), not tasks: give a task's row, and name its format or map"),
        ({"task_id": "t", "prompt": "?", "checks": []}, "native finds no tests in the row (checks): map its fields"),
        ({"task_id": "t", "language": "cpp", "test": "assert f(1)"}, "language is 'cpp', not Python"),
    ],
)
def test_a_row_alone_that_is_no_task_is_refused(row, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        load_task(row)


def test_dataset_hash_is_of_the_bytes(write):
    path = write(b"abc")
    assert dataset_hash(path) == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_problem_prints_as_one_printable_line():
    shown = str(Problem("a.jsonl", 3, "bad \n\x1b[2J", "'x'"))
    assert shown == r"a.jsonl:3: bad \n\x1b[2J (begins 'x')"
