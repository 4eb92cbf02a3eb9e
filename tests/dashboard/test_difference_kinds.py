"""Wrong answers are counted by what kind of difference they are."""

import pytest

from dashboard.queries import aggregates, query
from dashboard.state import Filter
from evaluator.checkers import floats
from evaluator.model import CaseResult, Difference, Verdict
from evaluator.runs.difference_kinds import LONGEST, OTHER, kind
from tests.dashboard.rows import Row, Written, row

VALUES = [
    ("5", "None", "got None"), ("None", "0", "a value instead of None"), ("5", "'5'", "str instead of int"),
    ("[1, 2]", "(1, 2)", "tuple instead of list"), ("1", "True", "bool instead of int"),
    ("8", "8.0", "float instead of int"), ("True", "False", "False instead of True"),
    ("true", "False", "False instead of True"), ("3", "4", "off by one"), ("-3", "3", "opposite sign"),
    ("0.54", "0.54011", "float within 0.1 %"), ("0.54", "0.55", "number too large"),
    ("10", "7", "number too small"), ("10", "0", "0 instead of another number"),
    ("1.50", "1.5", "same number, written differently"), ("-198", "(1+2j)", "another number"),
    ("'Ab c'", "'ab c'", "letter case"), ("'a b'", "'ab'", "white space"),
    ("'YES'", "'NO'", "no instead of yes"), ("'abc'", "'abd'", "one character differs"),
    ("'abc'", "'cba'", "order of characters"), ("'abc'", "'ab'", "text missing"),
    ("'abc'", "'abcd'", "extra text"), ("'abc'", "'xyz'", "another text"), ("[1]", "[]", "empty output"),
    ("{'a': 1}", "{}", "empty output"), ("[1, 2, 3]", "[1, 2]", "last item missing"),
    ("[1, 2, 3]", "[1, 3]", "items missing"), ("[1, 2]", "[1, 9, 2]", "extra items"),
    ("[1, 5]", "[9, 8, 7]", "another number of items"), ("[1, 2, 5]", "[5, 2, 1]", "order of items"),
    ("[1, 2, 5]", "[1, 2, 9]", "one item differs"), ("[1, 2, 5]", "[7, 2, 9]", "several items differ"),
    ("[1, 2, 5]", "[2, 3, 6]", "off by one"), ("[1.0, 2.0]", "[1.0001, 2.0001]", "float within 0.1 %"),
    ("[[1], 2]", "[[1], 3.0]", "one item differs"), ("[1]", "[1.0]", "type of an item"),
    ("{1, 2}", "{1}", "items missing"), ("{1, 2}", "{1, 3}", "one item differs"),
    ("{'a': 1}", "{'b': 1}", "one key differs"), ("{'a': 'x'}", "{'a': 'y'}", "one value differs"),
    ("{'a': 1}", "{'a': 1.0}", "type of a value"), ("[1]", "<generator: never read>", "not plain data"),
    ("a false value", "True", OTHER), ("1", "9" * (LONGEST + 1), "long output differs"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "actual", "name"), VALUES)
def test_values(expected: str, actual: str, name: str) -> None:
    assert kind(expected, actual, "", as_text=False) == name


OUTPUTS = [
    ("1\n", "", "empty output"), ("1\n", "None\n", "got None"),
    ("", "debug\n", "output where none is expected"), ("1\n2\n3\n", "1\n2\n", "last line missing"),
    ("1\n2\n3\n", "1\n", "last lines missing"), ("1\n2\n", "1\n2\n3\n", "extra lines at the end"),
    ("1\n2\n", "debug\n1\n2\n", "extra lines"), ("1\n2\n3\n", "1\n3\n", "lines missing"),
    ("1\n2\n9\n", "9\n1\n2\n", "order of lines"), ("1 2 9\n", "9 2 1\n", "order of items"),
    ("5\n", "6\n", "off by one"), ("5\n1 7\n", "6\n1 8\n", "off by one"),
    ("3.14\n", "3.1402\n", "float within 0.1 %"), ("YES\n", "Yes\n", "letter case"),
    ("YES\n", "no\n", "no instead of yes"), ("a b\nc\n", "ab\nc\n", "white space"),
    ("1\n2\n7\n", "1\n2\n99\n", "one line differs"), ("1\n2\n7\n", "8\n2\n99\n", "several lines differ"),
    ("1\n2\n", "3\n4\n5\n", "another number of lines"),
    ("x\n" * LONGEST, "y\n" * LONGEST, "long output differs"),
    ("x\n" * LONGEST + "end\n", "x\n" * LONGEST, "last line missing"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "actual", "name"), OUTPUTS, ids=[name for *_, name in OUTPUTS])
def test_outputs(expected: str, actual: str, name: str) -> None:
    found = floats.check(expected, actual)
    message = found.message if found else ""
    assert kind(expected, actual, message, as_text=True) == name


@pytest.mark.parametrize("text", ["-" * LONGEST + "1", "[" * LONGEST, "{[]: 1}", "1e999", "nan", "'\\ud800'", "\0", ""])
def test_no_text_of_a_completion_is_too_odd(text: str) -> None:
    for as_text in (True, False):
        assert kind("1", text, "", as_text=as_text)
        assert kind(text, "1", "", as_text=as_text)


def test_each_kind_is_a_cluster_whose_filter_finds_its_rollouts(written: Written) -> None:
    def wrong(sample: str, expected: str, actual: str, path: str | None = "") -> Row:
        first = CaseResult(index=0, verdict=Verdict.PASSED, expected="0", actual="0")
        second, third = (
            CaseResult(
                index=index, verdict=Verdict.WRONG_ANSWER, expected=expected, actual=actual,
                difference=Difference("differs", path=path),
            )
            for index, expected, actual, path in ((1, expected, actual, path), (2, "1", "None", ""))
        )  # fmt: skip
        return row("t", sample, reward=0.0, cases=(first, second, third))

    run = written([
        wrong("s0", "3", "4"), wrong("s1", "3", "2"), wrong("s2", "[1]", "[]"), row("t", "s3", reward=0.0),
        row("t", "s4", reward=1.0), wrong("s5", "1\n5\n", "5\n1\n", None),
    ])  # fmt: skip
    found = {each.name: each.rollouts for each in aggregates.clusters(run, Filter()).rows}
    kinds = {"off by one": 2, "empty output": 1, "order of lines": 1}
    assert found == {"wrong_answer": 1} | {f"wrong_answer: {name}": count for name, count in kinds.items()}
    assert all(query.count(run, Filter(err=name)) == count for name, count in found.items())
