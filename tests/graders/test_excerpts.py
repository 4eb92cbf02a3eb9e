"""Of long wrong answers, the part around the first difference is kept, the same of both sides."""

import ast

import msgspec
import pytest

from evaluator import grade
from evaluator.cases import SHOWN_WHEN_WRONG
from evaluator.checkers import get_checker
from evaluator.excerpts import keep_texts, keep_values
from evaluator.model import CaseResult, Excerpt, Mode, Task, TestCase, Verdict
from evaluator.runs.schema import CASE_COLUMNS, CaseRow

LINES = [f"line {n}\n" for n in range(20_000)]


def kept_texts(expected: str, actual: str, checker: str = "floats") -> tuple[str, str, Excerpt | None]:
    result = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER)
    result.difference = get_checker(checker).rules["text"](expected, actual)
    keep_texts(result, expected, actual)
    assert result.expected is not None
    assert result.actual is not None
    return result.expected, result.actual, result.excerpt


@pytest.mark.parametrize("at", [0, 3, 9_999, 19_990, 19_999])
@pytest.mark.parametrize("wrong", ["other\n", "", "one\nmore\n"])
def test_of_long_texts_the_lines_around_the_difference_are_kept(at: int, wrong: str) -> None:
    lines = [*LINES[:at], wrong, *LINES[at + 1 :]]
    expected, actual, excerpt = kept_texts("".join(LINES), "".join(lines))
    assert excerpt is not None
    assert excerpt.unit == "line"
    before, total = excerpt.expected
    assert (excerpt.actual[0], total) == (before, 20_000)
    assert expected == "".join(LINES[before : before + expected.count("\n")])
    assert LINES[at] in expected
    assert wrong in actual
    assert before <= at
    assert max(len(expected), len(actual)) <= SHOWN_WHEN_WRONG
    assert len(expected) >= SHOWN_WHEN_WRONG // 5


def test_the_checkers_line_counts_not_the_first_text_that_differs() -> None:
    expected = [f"{n}.5\n" for n in range(20_000)]
    actual = [f"{n}.50\n" for n in range(20_000)]
    actual[15_000] = "no\n"
    _, kept, excerpt = kept_texts("".join(expected), "".join(actual))
    assert excerpt is not None
    assert 10_000 < excerpt.expected[0] == excerpt.actual[0] < 15_000
    assert "no\n" in kept


def test_of_a_long_line_the_characters_around_the_difference_are_kept() -> None:
    one, other = "a" * 500_000 + "b" * 500_000, "a" * 500_000 + "c"
    expected, actual, excerpt = kept_texts(one, other)
    assert excerpt == Excerpt("character", (500_000 - 16_384, 1_000_000), (500_000 - 16_384, 500_001))
    assert expected == one[500_000 - 16_384 :][: 64 * 1024]
    assert actual == other[500_000 - 16_384 :]


def test_short_texts_are_kept_whole() -> None:
    assert kept_texts("a\n" * 9_000, "a\n" * 9_001) == ("a\n" * 9_000, "a\n" * 9_001, None)


@pytest.mark.parametrize("at", [0, 25_000, 49_999])
def test_of_long_lists_the_items_around_the_difference_are_kept(at: int) -> None:
    expected = [n * n for n in range(50_000)]
    actual = [*expected[:at], *expected[at + 1 :]]
    result = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER)
    result.difference = get_checker("value").rules["value"](expected, actual)
    keep_values(result, expected, actual)
    assert result.excerpt is not None
    before, total = result.excerpt.expected
    kept = ast.literal_eval(result.expected or "")
    assert kept == expected[before : before + len(kept)]
    assert ast.literal_eval(result.actual or "") == actual[before : before + len(kept)]
    assert total == 50_000
    assert before <= at < before + len(kept)


def test_a_long_value_that_is_no_list_is_kept_as_text() -> None:
    result = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER)
    keep_values(result, {n: n for n in range(20_000)}, {n: n + (n == 15_000) for n in range(20_000)})
    assert result.excerpt is not None
    assert result.excerpt.unit == "character"
    assert "15000: 15001" in (result.actual or "")


def test_a_grade_and_its_row_in_a_run_say_which_part_is_kept() -> None:
    numbers = "".join(f"{n}\n" for n in range(20_000))
    printed = Task(task_id="p", mode=Mode.STDIN, cases=(TestCase(0, "", numbers),))
    called = Task(task_id="c", mode=Mode.CALL, entry_point="f", cases=(TestCase(0, "1", str(list(range(20_000)))),))
    test = f"def check(c):\n    assert c(1) == {list(range(20_000))}\n"
    asserted = Task(task_id="a", mode=Mode.ASSERT, entry_point="f", test=test)
    wrong = "[n + (n == 15_000) for n in range(20_000)]"
    for task, code, unit in (
        (printed, f"print(*{wrong}, sep='\\n')", "line"),
        (called, f"def f(x): return {wrong}", "item"),
        (asserted, f"def f(x): return {wrong}", "item"),
    ):
        result = grade(task, code)
        [case] = result.cases
        assert case.excerpt is not None
        assert case.excerpt.unit == unit
        assert "15001" in (case.actual or "")
        column = next(column for column in CASE_COLUMNS if column.name == "excerpt")
        assert msgspec.json.decode(column.get(CaseRow(result, case)), type=Excerpt) == case.excerpt
