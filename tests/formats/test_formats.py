"""Every format of the field: rows as its writers make them become the right tasks and rollouts."""

import base64
import json
import pickle
import tracemalloc
import zlib
from pathlib import Path

import pytest

from evaluator.formats import FormatError, load_rollouts, load_tasks, parse_field_map, sniff
from evaluator.model import Kind, Mode, TestCase

# native


def test_native_rollouts_keep_every_field(read):
    row = {
        "task_id": "t", "sample_id": "s", "sample_index": 4, "kind": "chat", "model": "m",
        "group": "g", "step": 7, "completion": "x", "expected_pass": False, "reward": 0.5, "temperature": 0.2,
    }  # fmt: skip
    format_, (rollout,), _ = read(load_rollouts, row)
    assert format_ == "native"
    assert (rollout.sample_id, rollout.sample_index, rollout.kind) == ("s", 4, Kind.CHAT)
    assert (rollout.model, rollout.group, rollout.step) == ("m", "g", 7)
    assert (rollout.expected_pass, rollout.given_reward) == (False, 0.5)
    assert rollout.metadata == {"temperature": 0.2}


def test_a_completion_may_be_messages(read):
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": content}]
    _, (rollout,), _ = read(load_rollouts, {"task_id": "t", "completion": messages, "model": "m"})
    assert rollout.completion == "ab"


# colossalai


def test_colossalai_tasks_with_test_cases_and_messages(read):
    called = {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}
    messages = {"role": "user", "content": "Double."}
    rows = [
        {"messages": messages, "test_cases": {"inputs": ["2\n"], "outputs": ["4\n"]}},
        {"prompt": "Add.", "in_outs": called, "test": "ignored"},
        {"id": 5, "in_outs": '{"inputs": [], "outputs": []}'},
    ]
    format_, (double, add, empty), problems = read(load_tasks, *rows)
    assert (format_, problems) == ("colossalai", [])
    assert (double.mode, double.prompt) == (Mode.STDIN, "Double.")
    assert double.cases == (TestCase(0, "2\n", "4\n"),)
    assert (add.mode, add.entry_point, add.test) == (Mode.CALL, "add", None)
    assert (empty.task_id, empty.cases) == ("5", ())


# livecodebench


def lcb(**fields):
    return {"question_id": "abc_a", "question_content": "Q", "starter_code": "", **fields}


CASES = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}, {"input": "3\n", "output": "4\n", "testtype": "stdin"}]


def test_livecodebench_tasks_as_released(read):
    text = json.dumps(CASES[1:])
    plain = lcb(public_test_cases=json.dumps(CASES[:1]), private_test_cases=text)
    released = lcb(
        question_id="b", public_test_cases=json.dumps(CASES[:1]), private_test_cases=packed(pickle.dumps(text))
    )
    format_, tasks, problems = read(load_tasks, plain, released)
    assert (format_, problems) == ("livecodebench", [])
    assert [task.mode for task in tasks] == [Mode.STDIN, Mode.STDIN]
    wanted = (TestCase(0, "1\n", "2\n"), TestCase(1, "3\n", "4\n"))
    assert [task.cases for task in tasks] == [wanted, wanted]


def test_livecodebench_functional_tasks_are_calls(read):
    case = {"input": "[1, 2]\n3", "output": "6", "testtype": "functional"}
    row = lcb(starter_code="class Solution:\n", public_test_cases=[case], metadata='{"func_name": "total"}')
    _, (task,), _ = read(load_tasks, row)
    assert (task.mode, task.entry_point, task.prompt) == (Mode.CALL, "total", "Q\n\nclass Solution:\n")
    assert task.cases == (TestCase(0, "[1, 2]\n3", "6"),)


def test_livecodebench_sample_form(read):
    in_outs = {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}
    format_, (task,), _ = read(load_tasks, lcb(input_output=json.dumps(in_outs)))
    assert (format_, task.mode, task.entry_point) == ("livecodebench", Mode.CALL, "add")


def packed(data):
    return base64.b64encode(zlib.compress(data)).decode()


def test_of_packed_tests_the_text_is_held_twice_at_most(read):
    case = {"input": "1" * 20_000_000, "output": "1", "testtype": "stdin"}
    row = lcb(private_test_cases=packed(pickle.dumps(json.dumps([case]))))
    del case
    tracemalloc.start()
    _, (task,), _ = read(load_tasks, row, format="livecodebench")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(task.cases[0].input) == 20_000_000
    assert peak < 50_000_000


@pytest.mark.parametrize("pack", [pickle.dumps, str.encode], ids=["pickle", "JSON"])
def test_tests_that_unpack_to_too_much_cost_their_row_alone_and_little_memory(read, monkeypatch, pack):
    monkeypatch.setattr("evaluator.formats.reading.compression.MAX_UNPACKED_BYTES", 1 << 20)
    bomb = packed(pack(json.dumps([{"input": "1" * 50_000_000, "output": "1"}])))
    tracemalloc.start()
    _, (task,), (problem,) = read(
        load_tasks, lcb(private_test_cases=bomb), lcb(question_id="b", private_test_cases=CASES), format="livecodebench"
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert task.task_id == "b"
    assert "private_test_cases unpacks to more than 1 MiB: convert the file once" in problem
    assert peak < 5_000_000


class Trap:
    def __reduce__(self):
        return (Path.touch, (Path(Trap.path),))


def test_livecodebench_pickles_are_never_loaded(read, tmp_path):
    Trap.path = str(tmp_path / "sprung")
    _, tasks, (problem,) = read(
        load_tasks, lcb(private_test_cases=packed(pickle.dumps(Trap()))), format="livecodebench"
    )
    assert not (tmp_path / "sprung").exists()
    assert tasks == []
    assert "a pickle of more than one string, which is never loaded: convert the file once" in problem


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("rubbish!", "neither JSON nor base64-encoded zlib"),
        (packed(pickle.dumps("[oops")), "unpacks to text that is not JSON"),
        (packed(b"\x80\x04"), "which is never loaded"),
        ("[{}]", "must have an input and an output"),
        ('{"a": 1}', "must be a list of {input, output}"),
    ],
)
def test_livecodebench_test_cases_that_can_not_be_had_leave_the_task_out(read, value, message):
    _, tasks, (problem,) = read(load_tasks, lcb(private_test_cases=value), format="livecodebench")
    assert tasks == []
    assert message in problem


def test_livecodebench_outputs(tmp_path):
    path = tmp_path / "Scenario.codegeneration_2_0.2.json"
    two = {"output_list": ["```python\n1\n```", "no"], "code_list": ["1", ""], "graded_list": [True, False]}
    rows = [{"question_id": "a"} | two, {"question_id": "b", "output_list": [], "code_list": ["print(2)"]}]
    path.write_text(json.dumps(rows, indent=4))
    rollouts = list(load_rollouts(path))
    assert sniff(path).format == "livecodebench"
    assert [(r.sample_id, r.sample_index, r.expected_pass) for r in rollouts] == [
        ("a#0", 0, True), ("a#1", 1, False), ("b#0", 0, None),
    ]  # fmt: skip
    assert [r.completion for r in rollouts] == ["```python\n1\n```", "no", "print(2)"]
    assert [r.kind for r in rollouts] == [None, None, Kind.FULL]


# apps


def test_apps_tasks(read):
    stdin = {"inputs": ["1\n"], "outputs": ["2\n"]}
    call = {"fn_name": "f", "inputs": [[1, "a"], [2, "b"]], "outputs": [[3], [4]]}
    plain = {"fn_name": "f", "inputs": [[1]], "outputs": [[3, 4]]}
    base = {"question": "Q", "solutions": json.dumps(["first", "second"]), "difficulty": "interview"}
    rows = [
        {**base, "problem_id": 0, "input_output": json.dumps(stdin), "starter_code": ""},
        {**base, "id": 1, "input_output": json.dumps(call), "starter_code": "def f(a, b):\n"},
        {**base, "id": 2, "input_output": json.dumps(plain)},
        {**base, "id": 3, "input_output": "", "solutions": ""},
    ]
    format_, (a, b, c, d), problems = read(load_tasks, *rows)
    assert (format_, problems) == ("apps", [])
    assert (a.task_id, a.mode, a.reference) == ("0", Mode.STDIN, "first")
    assert a.cases == (TestCase(0, "1\n", "2\n"),)
    assert (b.mode, b.entry_point, b.prompt) == (Mode.CALL, "f", "Q\n\ndef f(a, b):\n")
    assert b.cases == (TestCase(0, '1\n"a"', "[3]", "3"), TestCase(1, '2\n"b"', "[4]", "4"))
    assert c.cases == (TestCase(0, "1", "[3, 4]"),)
    assert "outputs_unwrapped" not in c.metadata
    assert (d.cases, d.reference) == ((), None)


# --map


def test_a_map_names_the_fields_of_any_other_rows(read):
    field_map = parse_field_map("task_id=uid, completion = response.choices.0.text,model=meta.engine")
    row = {"uid": 7, "response": {"choices": [{"text": "x = 1"}]}, "meta": {"engine": "m"}, "t": 0.2}
    _, (rollout,), problems = read(load_rollouts, row, field_map=field_map)
    assert (rollout.task_id, rollout.completion, rollout.model) == ("7", "x = 1", "m")
    assert rollout.metadata["t"] == 0.2
    assert problems == []


def test_rows_without_an_id_are_grouped_by_their_prompt(read):
    field_map = {"prompt": "q", "completion": "a"}
    rows = [{"q": "Q1", "a": "x"}, {"q": "Q2", "a": "y"}, {"q": "Q1", "a": "z"}]
    _, rollouts, _ = read(load_rollouts, *rows, field_map=field_map)
    one, two, again = (r.task_id for r in rollouts)
    assert one == again != two
    _, tasks, _ = read(load_tasks, {"q": "Q1", "in_outs": {"inputs": ["1"], "outputs": ["1"]}}, field_map=field_map)
    assert tasks[0].task_id == one


def test_a_map_serves_a_named_format_too(read):
    row = {"uid": 1, "text": "T", "code": "def f(): pass", "asserts": ["assert f() is None"]}
    _, (task,), _ = read(load_tasks, row, format="mbpp", field_map={"task_id": "uid", "test_list": "asserts"})
    assert (task.task_id, task.entry_point) == ("1", "f")


def test_a_map_that_names_an_absent_field_is_reported_row_by_row(read):
    _, rollouts, (problem,) = read(load_rollouts, {"uid": 1}, field_map={"task_id": "uid", "completion": "text"})
    assert rollouts == []
    assert "completion is missing" in problem


@pytest.mark.parametrize("text", ["", "task_id", "task_id=", "=x", "a=b,a=c"])
def test_a_map_that_is_no_map_is_refused(text):
    with pytest.raises(FormatError, match=r"^--map: "):
        parse_field_map(text)
