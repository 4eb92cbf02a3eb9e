"""Every kind of file gives the same rows; whatever its bytes are, each line is a row or a problem."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import random
from functools import partial

import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from evaluator.formats import FormatError, Role, load_rollouts, load_tasks, sniff
from evaluator.formats.reading.containers import is_incomplete, open_container, read_rows
from evaluator.formats.reading.file_layout import layout_of, rollouts_of
from evaluator.formats.reading.registry import Row
from tests.formats.conftest import loaded
from tests.formats.test_datasets import FILES


def sample(name, **fields):
    return {"task_id": "t", "sample_id": name, "completion": f"print({name!r})\n", **fields}


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_objects_over_many_lines_are_rows(write):
    text = "\n".join(json.dumps(sample(name), indent=2) for name in "ab") + "\n{broken\n}\n"
    text += json.dumps(sample("c")) + json.dumps(sample("d"))
    rollouts, (problem,) = loaded(write(text, "rows.json"))
    assert [(r.sample_id, r.line) for r in rollouts] == [("a", 1), ("b", 6), ("c", 13), ("d", 13)]
    assert (problem.line, problem.reason, problem.offset) == (11, "not JSON", text.index("{broken"))


def test_a_broken_first_line_does_not_make_it_another_kind_of_file(write):
    rollouts, (problem,) = loaded(write('{"task_id": "t", "completion":\n' + lines(sample("b"))))
    assert [r.sample_id for r in rollouts] == ["b"]
    assert (problem.line, problem.reason) == (1, "not JSON")


def test_the_first_of_several_alike_is_no_header(write):
    rollouts, problems = loaded(write(lines({"x": 1}, {"x": 2}, sample("a"))))
    assert ([r.sample_id for r in rollouts], [problem.line for problem in problems]) == (["a"], [1, 2])


def test_a_first_row_that_lacks_a_field_is_no_header(write):
    rollouts, (problem,) = loaded(write(lines({"task_id": "t", "sample_id": "x"}, sample("a"))))
    assert [r.sample_id for r in rollouts] == ["a"]
    assert (problem.line, problem.reason) == (1, "missing field")


@pytest.mark.parametrize(
    ("name", "load"), [("tasks_by_id.json", load_tasks), ("rollouts_with_header.jsonl.xz", load_rollouts)]
)
def test_a_format_that_is_named_reads_what_it_recognises(name, load):
    path = FILES / name
    assert loaded(path, load, format=sniff(path).format) == loaded(path, load)


def test_parquet_rows_are_plain_values(tmp_path):
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "print(1)"}]
    table = pa.table({
        "task_id": ["a", "b"],
        "completion": [messages, messages],
        "when": [datetime.datetime(2025, 1, 2, 3), None],
        "raw": [b"caf\xc3\xa9", b"\xff"],
        "of": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        "score": [float("nan"), 0.5],
    })  # fmt: skip
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet", row_group_size=1)
    rollouts, problems = loaded(tmp_path / "x.parquet")
    assert problems == []
    assert [(r.task_id, r.completion, r.line) for r in rollouts] == [("a", "print(1)", 1), ("b", "print(1)", 2)]
    assert rollouts[0].metadata["when"] == "2025-01-02T03:00:00"
    assert [r.metadata["raw"] for r in rollouts] == ["café", "\\xff"]
    assert rollouts[0].metadata["of"] == {"k": 1}


def test_damage_before_the_first_row_is_not_said_to_be_after_rows(tmp_path):
    path = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(pa.table({"task_id": ["a"], "completion": ["x"]}), path)
    data = bytearray(path.read_bytes())
    data[4:40] = bytes(36)
    path.write_bytes(data)
    rollouts, (problem,) = loaded(path)
    assert rollouts == []
    assert problem.message.startswith("the file can't be read: ")
    assert "were read" not in problem.message


def test_a_quote_that_is_not_closed_is_told(write):
    rollouts, (problem,) = loaded(write('task_id,completion\nt,a\nt,"b\nt,c\nt,d\n', "rows.csv"))
    assert [r.completion for r in rollouts] == ["a"]
    assert (problem.line, problem.message[:50]) == (3, "not CSV: a quote is not closed, so that 3 lines ar")


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_csv_rows_have_true_lines_and_json_in_cells(write, ending):
    data = 'task_id,completion,step,reward,in_outs\n007,"a, ""b""\nc",12,0.5,"{""inputs"": []}"\n\nshort\n8,"[1]",,,\n'
    if ending == "tsv":
        data = data.replace(",", "\t").replace("a\t", "a,")
    rollouts, (problem,) = loaded(write(data, f"rows.{ending}"))
    first, second = rollouts
    assert (first.task_id, first.completion, first.step, first.given_reward) == ("007", 'a, "b"\nc', 12, 0.5)
    assert first.metadata["in_outs"] == {"inputs": []}
    assert (second.task_id, second.completion, second.step) == ("8", "[1]", None)
    assert [first.line, second.line] == [2, 6]
    assert (problem.line, problem.reason, problem.offset) == (5, "wrong type", data.index("short"))


def test_csv_is_known_without_its_ending(write):
    path = write("task_id,completion\n1,x\n", "rows.bin")
    assert sniff(path).container == "CSV"
    assert [r.completion for r in loaded(path)[0]] == ["x"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstandard.compress])
def test_a_file_that_unpacks_beyond_measure_is_refused_in_one_line(write, pack, monkeypatch):
    monkeypatch.setattr("evaluator.formats.reading.compression._FREE", 20 << 20)
    rollouts, (problem,) = loaded(write(pack(lines(sample("a")).encode() + b'"' + b"x" * 24_000_000)))
    assert [r.sample_id for r in rollouts] == ["a"]
    assert "unpacks to more than 200 times its size" in problem.message


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, partial(bz2.compress, compresslevel=1), partial(lzma.compress, preset=0), zstandard.compress],
    ids=["gzip", "bzip2", "xz", "zstd"],
)
def test_damage_is_said_after_the_rows_before_it(write, pack):
    data = lines(*(sample(str(n), junk=random.Random(n).randbytes(100).hex()) for n in range(2_000))).encode()
    rollouts, problems = loaded(write(pack(data)[:-2_000]))
    assert 0 < len(rollouts) < 2_000
    assert "the rest of the file can't be read" in problems[-1].message


def test_rows_in_place_are_read_at_their_offset(write):
    text = "\ufeff\n" + lines({"config": 1}, sample("a"), sample("b"))
    path = write(text)
    layout = layout_of(path, Role.ROLLOUTS)
    assert layout.in_place
    data = path.read_bytes()
    assert (layout.line, data[layout.offset :].startswith(b'{"task_id": "t", "sample_id": "a"')) == (3, True)
    (rollout,) = rollouts_of(layout, json.loads(data[layout.offset :].splitlines()[0]))
    assert rollout.sample_id == "a"
    assert not layout_of(write(gzip.compress(data), "x.gz"), Role.ROLLOUTS).in_place


def test_a_half_written_line_is_told_from_a_broken_one():
    assert is_incomplete(b'{"a": 1')
    assert not is_incomplete(b'{"a": 1\n')
    assert not is_incomplete(b'{"a": 1}')


def test_rows_in_another_language_are_problems(write):
    rows = sample("a", language="Python"), sample("b", language="Java"), sample("c", lang="cpp"), sample("d", lang="en")
    rollouts, problems = loaded(write(lines(*rows)))
    assert [r.sample_id for r in rollouts] == ["a", "d"]
    assert [(p.line, p.reason) for p in problems] == [(2, "not Python"), (3, "not Python")]


CHAT = {"role": "assistant"}


@pytest.mark.parametrize(
    "row",
    [
        {"task_id": "t", "completions": ["x = 0", "x = 1"], "rewards": [0, 1]},
        {"task_id": "t", "samples": [{"text": "x = 0", "reward": 0}, {"text": "x = 1", "reward": 1}]},
        {"task_id": "t", "generations": [[CHAT | {"content": f"x = {n}"}] for n in (0, 1)], "scores": [0, 1]},
    ],
)
def test_all_samples_of_a_row_are_read(write, row):
    rollouts, problems = loaded(write(lines(row)))
    assert problems == []
    assert [(r.sample_id, r.completion, r.given_reward) for r in rollouts] == [("t#0", "x = 0", 0), ("t#1", "x = 1", 1)]


@pytest.mark.parametrize("samples", [{"completion": "x"}, {"completions": ["x", "y"]}])
def test_a_row_with_tests_and_samples_is_read_in_both_roles(write, samples):
    task = {"task_id": "t", "prompt": "p", "entry_point": "f", "test": "def check(c):\n    assert c(1) == 1\n"}
    path = write(lines({**task, **samples}, {**task, **samples}))
    tasks, problems = loaded(path, load_tasks)
    assert [(t.task_id, t.prompt) for t in tasks] == [("t", "p")]
    assert problems == []
    assert len(loaded(path)[0]) == 2 * len(next(iter(samples.values())))


CALL = {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"code": "1"}'}}


def test_a_message_without_content_does_not_lose_the_row_and_every_turn_is_kept(write):
    said = [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "name": "run", "content": "1"},
        {"role": "assistant", "content": "print(1)"},
        {"role": "assistant", "content": None},
    ]
    asked = [{"role": "user", "content": "q"}, *said]
    (after, whole), problems = loaded(write(lines(sample("a", completion=said), sample("b", completion=asked))))
    assert problems == []
    assert [after.completion, whole.completion] == ["print(1)", "print(1)"]
    assert [item["type"] for item in after.metadata["conversation"]] == [
        "function_call", "function_call_output", "message",
    ]  # fmt: skip
    assert after.metadata["conversation"][0]["arguments"] == '{"code": "1"}'
    assert [message["role"] for message in whole.metadata["messages"]] == [
        "user", "assistant", "tool", "assistant", "assistant",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "completions"),
    [
        ("samples[*].text", ["a", "b"]),
        ("samples.*.text", ["a", "b"]),
        ("samples[1].text", ["b"]),
        ("samples.1.text", ["b"]),
        ("nested[*][*]", ["x", "y", "z"]),
        ("samples[0].dotted.name", ["d"]),
    ],
)
def test_map_follows_paths(write, path, completions):
    row = {"uid": 7, "samples": [{"text": "a", "dotted": {"name": "d"}}, {"text": "b"}], "nested": [["x", "y"], ["z"]]}
    rollouts, problems = loaded(write(lines(row)), field_map={"task_id": "uid", "completion": path})
    assert problems == []
    assert [(r.task_id, r.completion) for r in rollouts] == [("7", text) for text in completions]


def test_lists_of_map_advance_together_and_ragged_ones_are_a_problem(write):
    names = {"task_id": "uid", "completion": "texts[*]", "reward": "scores[*]"}
    rows = [{"uid": 1, "texts": ["a", "b"], "scores": [0, 1]}, {"uid": 2, "texts": ["a"], "scores": []}]
    rollouts, (problem,) = loaded(write(lines(*rows)), field_map=names)
    assert [(r.completion, r.given_reward) for r in rollouts] == [("a", 0), ("b", 1)]
    assert (problem.line, problem.reason) == (2, "ragged lists")
    assert "texts[*] has 1, scores[*] has 0" in problem.message


def test_a_mapped_dataset_may_list_its_tests(write):
    test_class = "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(), 1)\n"
    rows = [{"id": 1, "io": [{"input": "1", "output": "2"}]}, {"id": 2, "io": '[{"input": "1", "output": "2"}]'}]
    rows += [{"id": 3, "asserts": ["assert f(1) == 2", "assert f(2) == 3"]}, {"id": 4, "asserts": test_class}]
    names = {"task_id": "id", "in_outs": "io", "test": "asserts"}
    tasks, problems = loaded(write(lines(*rows)), load_tasks, field_map=names)
    assert problems == []
    assert [(t.mode.value, t.entry_point, len(t.cases)) for t in tasks] == [
        ("stdin", None, 1), ("stdin", None, 1), ("assert", "f", 0), ("unittest", None, 0),
    ]  # fmt: skip


def test_map_serves_datasets_too(write):
    row = {"tests": [{"q": "p", "n": 1, "a": 3}, {"q": "r", "n": 2, "a": 4}]}
    names = {"task_id": "tests[*].n", "prompt": "tests[*].q", "answer": "tests[*].a"}
    tasks, problems = loaded(write(lines(row)), load_tasks, field_map=names)
    assert problems == []
    assert [(t.task_id, t.prompt, t.answer) for t in tasks] == [("1", "p", 3), ("2", "r", 4)]


ROW = b'{"task_id": "t", "completion": "x"}'
STRANGE = (
    b"\xef\xbb\xbf", b"\n", b"\r\n", b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\0", b"\xff", b"\t",
    ROW, ROW + b"\n", b'{"config": 1}\n', b"1e999", b"PAR1", b"a,b\n1,2\n",
)  # fmt: skip
PIECES = st.lists(st.sampled_from(STRANGE) | st.binary(max_size=6), max_size=24)
PACKS = st.sampled_from([bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.compress])


def outcome(path, load=load_rollouts):
    """The records and problems; none of a file that is refused, in one line."""
    try:
        return loaded(path, load)
    except FormatError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    return [], []


@given(PIECES, PACKS, st.integers(0, 12), st.sampled_from(["x.jsonl", "x.csv", "x.tsv"]))
def test_readers_never_raise_whatever_the_bytes(tmp_path_factory, pieces, pack, cut, name):
    data = pack(b"".join(pieces))
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(data[: len(data) - cut])
    for load in (load_rollouts, load_tasks):
        records, problems = outcome(path, load)
        assert all(str(problem).isprintable() and problem.reason for problem in problems)
        assert all(record.line >= 1 for record in records)


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line) | st.just(ROW), max_size=12), PACKS)
def test_good_and_bad_lines_are_all_lines(tmp_path_factory, found, pack):
    data = b"".join(line + b"\n" for line in [ROW, *found])
    path = tmp_path_factory.mktemp("all") / "x.jsonl"
    path.write_bytes(pack(data))
    rows = list(read_rows(open_container(path)))
    every = data.split(b"\n")[:-1]
    lines = list(dict.fromkeys(row.line for row in rows))  # a list of objects is several rows
    assert lines == [n for n, line in enumerate(every, 1) if line and not line.isspace()]
    assert all(data[row.offset :].startswith(every[row.line - 1]) for row in rows)
    assert {row.line for row in rows if isinstance(row, Row)} >= {n for n, line in enumerate(every, 1) if line == ROW}


@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 400))
def test_damaged_parquet_never_raises(tmp_path_factory, noise, place, length):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"task_id": ["a"] * 9, "completion": ["x"] * 9}), buffer)
    data = bytearray(buffer.getvalue())
    data[place : place + length] = noise
    path = tmp_path_factory.mktemp("parquet") / "x.parquet"
    path.write_bytes(data)
    outcome(path)


VALUES = (
    "1e999", "-1e999", "NaN", "1" + "0" * 400, "1" + "0" * 5000, "1.5", "-0", "9" * 30, "true", "null",
    "[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, "[[1]]",
    '"\\ud800"', '"\\u0000"', '"x"', '""',
)  # fmt: skip
FIELDS = (
    "task_id", "completion", "sample_id", "sample_index", "step", "reward", "expected_pass", "model", "kind",
    "recorded_verdict", "recorded_word", "language", "messages", "other",
)  # fmt: skip


@given(st.sampled_from(FIELDS), st.sampled_from(VALUES))
def test_any_value_in_any_field_is_kept_or_reported(tmp_path_factory, name, value):
    row = {"task_id": '"t"', "completion": '"x"', name: value}
    text = "{" + ", ".join(f'"{key}": {inner}' for key, inner in row.items()) + "}\n"
    path = tmp_path_factory.mktemp("value") / "x.jsonl"
    path.write_text(lines(sample("first")) + text)
    rollouts, problems = loaded(path)
    assert len(rollouts) + len(problems) == 2
    assert [problem.line for problem in problems] in ([], [2])
