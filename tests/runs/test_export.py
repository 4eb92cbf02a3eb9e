"""Exports: the columns people are promised, safe in a spreadsheet, the same bytes for the same grades."""

import csv
import io
import json
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq
import pytest

from evaluator.model import CaseResult, Difference, Flag, Grade, Mode, Rollout, Task, TestCase, Verdict
from evaluator.runs import export as exporting
from evaluator.runs.export import CASE_DEFAULTS, ROLLOUT_DEFAULTS, ExportError, export
from evaluator.runs.notes import NOTE_COLUMNS, note_rollout, note_task
from evaluator.runs.reading import Manifest, QueryError, Run
from evaluator.runs.schema import column_names
from evaluator.runs.writing import RunWriter

Varied = dict[str, tuple[dict[str, object], dict[str, str]]]


def grade(sample: str, verdict: Verdict = Verdict.PASSED, task: str = "t", **fields: object) -> Grade:
    reward = {Verdict.PASSED: 1.0, Verdict.SANDBOX_ERROR: None}.get(verdict, 0.0)
    return Grade(**({"task_id": task, "sample_id": sample, "verdict": verdict, "reward": reward} | fields))


def made(path: Path, *grades: Grade, **rollout: object) -> Run:
    with RunWriter.create(path, Manifest(dataset_hash="abc", evaluator_version="0.1.0")) as writer:
        for row, one in enumerate(grades):
            writer.add(Rollout(task_id=one.task_id, sample_id=one.sample_id, completion="c", **rollout), one, row)
        writer.close("finished")
    return Run.open(path)


def as_csv(run: Run, **options: object) -> list[dict[str, str]]:
    stream = io.BytesIO()
    export(run, stream, format="csv", **options)
    return list(csv.DictReader(io.StringIO(stream.getvalue().decode(), newline="")))


def as_jsonl(run: Run, **options: object) -> list[dict[str, object]]:
    stream = io.BytesIO()
    export(run, stream, format="jsonl", **options)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_the_promised_columns_come_first_and_in_order(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a", cases=(CaseResult(index=0, verdict=Verdict.PASSED),)))
    promised = """
        task_id, sample_id, sample_index, group, model, step, reward, verdict, verified, unverified_reason,
        tests_passed, tests_total, pass_rate, error_type, error_message, error_line, first_failing_test, wall_s,
        cpu_s, memory_mb, flags, checker, grader, dataset_hash, evaluator_version, code"""
    assert ", ".join(as_jsonl(run)[0]) == " ".join(promised.split())
    promised = """
        task_id, sample_id, test_index, verdict, expected, actual, difference, wall_s, cpu_s, memory_mb"""
    assert ", ".join(as_jsonl(run, per="case")[0]) == " ".join(promised.split())
    assert list(as_csv(run)[0]) == list(ROLLOUT_DEFAULTS)


def test_rows_are_sorted_whatever_the_order_of_grading(tmp_path: Path) -> None:
    grades = [grade(s, task=t) for t, s in [("t2", "a"), ("t10", "b"), ("t1", "z"), ("t1", "a")]]
    one, two = made(tmp_path / "one", *grades), made(tmp_path / "two", *reversed(grades))
    assert [(r["task_id"], r["sample_id"]) for r in as_jsonl(one)] == [
        ("t1", "a"), ("t1", "z"), ("t10", "b"), ("t2", "a"),
    ]  # fmt: skip
    for format_ in ("csv", "jsonl", "parquet"):
        first, second = io.BytesIO(), io.BytesIO()
        assert export(one, first, format=format_) == export(two, second, format=format_) == 4
        assert first.getvalue() == second.getvalue()


@pytest.mark.parametrize("per", ["rollout", "case"])
def test_rows_that_do_not_fit_in_memory_together_are_in_the_same_order(
    per: Literal["rollout", "case"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks of one rollout, of many, and of a few with long texts."""
    names = [("a", "s")] + [("b", f"s{number}") for number in range(14)] + [("c", f"s{number}") for number in range(3)]
    texts = {"a": "", "b": "x", "c": "x" * 9_000}
    grades = [
        grade(sample, task=task, code=texts[task], cases=[passed(index, texts[task]) for index in range(3)])
        for task, sample in names
    ]
    run = made(tmp_path / "run", *reversed(grades))
    whole = as_jsonl(run, per=per)
    for together in (1, 2_000):
        monkeypatch.setattr(exporting, "_RANGE_BYTES", together)
        assert as_jsonl(run, per=per) == whole
    few = as_jsonl(run, per=per, where="sample_id <> 's2'", rows=list(range(0, len(grades), 2)))
    assert [row for row in whole if row in few] == few
    assert len(few) == {"rollout": 7, "case": 21}[per]


def passed(index: int, text: str) -> CaseResult:
    return CaseResult(index=index, verdict=Verdict.PASSED, expected=text, actual=text)


CODE = '\ndef f(x):\n\tif x < 1: return "a,\'b\'"\r\n    return "\0\u2028é"'
FLAGS = (Flag("early_exit", "line 1: import os; os._exit(0)"), Flag("gc_walking", "line 2"))
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n=")


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Varied:
    """By sample, its row in JSON lines and its cells in CSV."""
    run = made(
        tmp_path_factory.mktemp("varied") / "run",
        grade("address", Verdict.WRONG_ANSWER, error_message="<A at 0x7fAB> is not 0xCAFE"),
        grade("not verified", verified=False, unverified_reason="compared by `__eq__` of <A object at 0x7fAB>"),
        grade("no reward", Verdict.SANDBOX_ERROR),
        grade("code", code=CODE, flags=FLAGS),
        *(grade(start, code=f"{start}HYPERLINK()", flags=(Flag(start, ""),)) for start in STARTS),
        model="=m",
        given_reward=-1.5,
    )
    columns = [*ROLLOUT_DEFAULTS, "flag_evidence", "given_reward"]
    rows = zip(as_jsonl(run, columns=columns), as_csv(run, columns=columns), strict=True)
    return {str(row["sample_id"]): (row, cells) for row, cells in rows}


def test_addresses_in_messages_do_not_make_two_runs_differ(varied: Varied, tmp_path: Path) -> None:
    assert varied["address"][0]["error_message"] == "<A at 0x0> is not 0xCAFE"
    differs = Difference("expected 1, got <A object at 0x7f0000beef00>")
    case = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, difference=differs)
    run = made(tmp_path / "run", grade("a", cases=(case,)))
    assert as_jsonl(run, per="case")[0]["difference"] == "expected 1, got <A object at 0x0>"


def test_what_there_is_none_of_is_an_empty_cell(varied: Varied) -> None:
    reason = "compared by `__eq__` of <A object at 0x0>"
    for sample, verified, why in (("code", True, None), ("not verified", False, reason)):
        row, cells = varied[sample]
        assert (row["verified"], row["unverified_reason"]) == (verified, why)
        assert (cells["verified"], cells["unverified_reason"]) == (str(verified).lower(), why or "")
    assert [found["reward"] for found in (*varied["no reward"], *varied["address"])] == [None, "", 0.0, "0.0"]


def test_text_that_a_spreadsheet_would_run_is_neutralised(varied: Varied) -> None:
    for start in STARTS:
        row, cells = varied[start]
        assert row["code"] == f"{start}HYPERLINK()"
        assert [cells[name] for name in ("code", "sample_id", "flags")] == [f"'{row['code']}", f"'{start}", f"'{start}"]
        assert (cells["model"], cells["given_reward"]) == ("'=m", "-1.5")


def test_code_and_evidence_stay_readable_in_csv(varied: Varied) -> None:
    row, cells = varied["code"]
    assert cells["code"] == CODE.replace("\0", "\\x00")
    assert cells["flags"].split(";") == ["early_exit", "gc_walking"]
    assert cells["flag_evidence"].split("\n") == ["line 1: import os; os._exit(0)", "line 2"]
    assert row["flag_evidence"] == [flag.evidence for flag in FLAGS]


def test_columns_and_conditions_choose(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a"), grade("b", Verdict.TIME_LIMIT, flags=(Flag("f", "e"), Flag("g", ""))))
    assert as_jsonl(run, where="verdict = 'time_limit'", columns=["flags", "sample_id"]) == [
        {"flags": ["f", "g"], "sample_id": "b"}
    ]
    assert as_csv(run, where="reward = 0", columns=["flags", "verified"]) == [{"flags": "f;g", "verified": "true"}]
    for per, table in (("rollout", "rollouts"), ("case", "cases")):
        assert as_jsonl(run, per=per, columns=column_names(table)) is not None
    assert as_jsonl(run, where="reward > 1") == []


def test_given_grades_are_there_by_default_if_there_are_any(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a"), given_reward=0.5)
    row = as_jsonl(run)[0]
    assert row["given_reward"] == 0.5
    assert not {"recorded_verdict", "components"} & set(row)


def test_the_prompt_is_a_column_and_a_condition(tmp_path: Path) -> None:
    results = tuple(CaseResult(index=index, verdict=Verdict.PASSED) for index in (0, 1))
    task = Task(task_id="t", mode=Mode.STDIN, prompt="Add.", cases=(TestCase(0, "1", "2"), TestCase(1, "3\n", "4")))
    with RunWriter.create(tmp_path / "run", Manifest(dataset_hash="abc", evaluator_version="0.1.0")) as writer:
        writer.add_task(task, task.cases)
        writer.finish_tasks()
        writer.add(Rollout(task_id="t", sample_id="a", completion="c"), grade("a", cases=results), 0)
        writer.close("finished")
    run = Run.open(tmp_path / "run")
    assert as_jsonl(run, columns=["sample_id", "prompt"]) == [{"sample_id": "a", "prompt": "Add."}]
    found = as_jsonl(run, per="case", where="prompt = 'Add.' AND test_index = 1", columns=["test_index", "prompt"])
    assert found == [{"test_index": 1, "prompt": "Add."}]


def test_an_unknown_file_extension_is_refused_and_an_unknown_column_names_the_nearest(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a"))
    for name in ("out.html", "out", "out.xlsx"):
        with pytest.raises(ExportError, match=r"\.csv, \.jsonl, \.parquet"):
            export(run, tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(ExportError, match="did you mean verdict"):
        as_csv(run, columns=["verdicts"])
    with pytest.raises(ExportError, match="did you mean test_index"):
        as_csv(run, per="case", columns=["test_idx"])


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a"), grade("1"))
    target = tmp_path / "out.csv"
    target.write_text("before")
    with pytest.raises(QueryError, match="Could not convert") as refused:
        export(run, target, where="sample_id::INTEGER = 1")
    assert "\n" not in str(refused.value)
    assert target.read_text() == "before"
    assert export(run, target) == 2
    assert len(target.read_text().splitlines()) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "run"]
    with pytest.raises(ExportError, match="can't be written"):
        export(run, tmp_path / "absent" / "out.csv")


def test_an_empty_run_exports_its_head(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    for per, names in (("rollout", ROLLOUT_DEFAULTS), ("case", CASE_DEFAULTS)):
        target = tmp_path / f"{per}.parquet"
        assert export(run, target, per=per) == 0
        assert pq.read_table(target).column_names == list(names)
        assert as_csv(run, per=per) == []


HOSTILE_TAGS = ("a, b", "line\nfeed", "<b>x</b>", "=1+1", "t" * 10_000, "half \ud800", "semi;colon")


def test_tags_and_notes_are_columns_of_rollouts(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a"), grade("b"), grade("c", task="u"))
    note_rollout(run.path, "t", "a", tags=HOSTILE_TAGS, note="a note\nof two lines")
    note_task(run.path, "t", judgement="bad", note="wrong test")
    note_task(run.path, "t", 3, judgement="good")
    chosen = ["sample_id", *NOTE_COLUMNS]
    a, b, c = as_jsonl(run, columns=chosen)
    kept = [*HOSTILE_TAGS[:5], "half \\ud800", HOSTILE_TAGS[6]]
    assert a == {"sample_id": "a", "tags": kept, "note": "a note\nof two lines", "task_judgement": "bad",
                 "task_note": "wrong test", "test_notes": "test 3: good"}  # fmt: skip
    assert b == a | {"sample_id": "b", "tags": None, "note": None}
    assert c == {"sample_id": "c"} | dict.fromkeys(NOTE_COLUMNS)
    assert as_csv(run, columns=chosen)[0]["note"] == "a note\nof two lines"
    assert [row["sample_id"] for row in as_jsonl(run, where="list_contains(tags, 'a, b')")] == ["a"]
    assert "tags" not in as_jsonl(run)[0]
    export(run, tmp_path / "out.parquet", columns=chosen)
    assert pq.read_table(tmp_path / "out.parquet")["tags"].to_pylist() == [kept, None, None]


def test_what_is_said_of_test_cases_is_in_the_rows_of_rollouts_and_of_test_cases(tmp_path: Path) -> None:
    cases = tuple(CaseResult(index=index, verdict=Verdict.PASSED) for index in range(3))
    run = made(tmp_path / "run", grade("a", cases=cases), grade("b", task="u", cases=cases[:1]))
    note_task(run.path, "t", 1, judgement="bad", note="not in the prompt")
    note_task(run.path, "t", 0, judgement=None, note="=odd")
    rows = as_csv(run, columns=["sample_id", "task_judgement", "test_notes"])
    assert [tuple(row.values()) for row in rows] == [
        ("a", "", "test 0: '=odd'; test 1: bad, 'not in the prompt'"), ("b", "", ""),
    ]  # fmt: skip
    columns = ["sample_id", "test_index", "test_judgement", "test_note"]
    assert [tuple(row.values()) for row in as_csv(run, per="case", columns=columns)] == [
        ("a", "0", "", "'=odd"), ("a", "1", "bad", "not in the prompt"), ("a", "2", "", ""), ("b", "0", "", ""),
    ]  # fmt: skip
    assert [row["test_index"] for row in as_jsonl(run, per="case", where="test_judgement = 'bad'")] == [1]
    assert len(as_jsonl(run, per="case", rows=[1], columns=columns)) == 1


def test_the_kind_of_an_error_is_a_column_and_a_condition(tmp_path: Path) -> None:
    wrong = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, expected="7", actual="8")
    raised = {"error_type": "KeyError", "error_message": "'a' of 3"}
    grades = grade("a", Verdict.WRONG_ANSWER, cases=(wrong,)), grade("b"), grade("c", Verdict.RUNTIME_ERROR, **raised)
    run = made(tmp_path / "run", *grades)
    kinds = [row["error_kind"] for row in as_jsonl(run, columns=["error_kind"])]
    assert kinds == ["wrong_answer: off by one", None, "KeyError: '…' of N"]
    chosen = as_jsonl(run, where="Error_Kind LIKE '%off by one'", columns=["sample_id", *NOTE_COLUMNS])
    assert [row["sample_id"] for row in chosen] == ["a"]
    assert "error_kind" not in as_jsonl(run)[0]


def test_a_broken_file_of_notes_only_stops_exports_of_notes(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a"))
    (run.path / "notes.json").write_text("[")
    assert len(as_jsonl(run)) == 1
    with pytest.raises(ExportError, match="move it away"):
        as_jsonl(run, columns=["tags"])


def test_two_notes_on_one_rollout_do_not_double_its_row(tmp_path: Path) -> None:
    run = made(tmp_path / "run", grade("a"))
    twice = {"rollouts": [{"task_id": "t", "sample_id": "a", "note": word} for word in ("old", "new")]}
    (run.path / "notes.json").write_text(json.dumps(twice))
    assert [row["note"] for row in as_jsonl(run, columns=["note"])] == ["new"]
