"""Exact answers: where they are looked for, what they may differ in, and what is said of those that are not right."""

import pytest

from evaluator.graders import GraderError, get_grader, shown_cases
from evaluator.model import JsonValue, Verdict
from tests.graders.answers import graded, options, task


def reward(answer: JsonValue, completion: str, **given: JsonValue) -> float | None:
    return graded(task(answer), completion, options("exact_match", **given)).reward


def test_it_is_the_grader_of_answer_tasks_and_shows_both_sides() -> None:
    grade = graded(task("Paris"), " Paris\n")
    assert (grade.verdict, grade.reward, grade.pass_rate, grade.grader) == (Verdict.PASSED, 1.0, 1.0, "exact_match")
    [case] = grade.cases
    assert (case.expected, case.actual, case.verdict) == ("Paris", "Paris", Verdict.PASSED)
    grade = graded(task("Paris"), "Rome")
    assert (grade.verdict, grade.reward) == (Verdict.WRONG_ANSWER, 0.0)
    assert grade.error_message == "expected 'Paris', got 'Rome'"


def test_one_of_several_accepted_answers_is_enough() -> None:
    several = task(["forty-two", 42, "XLII"])
    assert [graded(several, text).reward for text in ("forty-two", "42.0", "XLII", "xlii")] == [1.0, 1.0, 1.0, 0.0]
    assert "one of 'forty-two', '42', 'XLII'" in str(graded(several, "43").error_message)
    assert [case.expected for case in shown_cases(several, None)] == ["forty-two\n42\nXLII"]


@pytest.mark.parametrize(
    ("given", "answer", "completion"),
    [
        ({"strip": True}, "a", " a\n"),
        ({"case": "ignore"}, "Straße", "STRASSE"),
        ({"whitespace": "fold"}, "a b", "a\n \tb"),
        ({"punctuation": "ignore"}, "its", "it's!"),
        ({"articles": "ignore"}, "The cat", "a cat"),
        ({"unicode": "NFC"}, "caf\u00e9", "cafe\u0301"),
        ({"unicode": "NFKC"}, "x2", "x\u00b2"),
        ({"numbers": True}, "7", "7.0"),
    ],
)
def test_an_option_makes_two_texts_the_same_which_else_differ(
    given: dict[str, JsonValue], answer: str, completion: str
) -> None:
    strict: dict[str, JsonValue] = {"strip": False, "unicode": "keep"}
    assert reward(answer, completion, **strict) == 0.0
    assert reward(answer, completion, **(strict | given)) == 1.0


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        ("3.14", ["3.14", "3.14.", "(3.14)", "**3.14**"], ["314", "31.4", "-3.14"]),
        ("314", ["314", "3,14", "314!"], ["3.14", "31.4", ".314"]),
        ("-5", ["-5", "_-5_", "\N{MINUS SIGN}5", "\N{EN DASH}5", "\N{NON-BREAKING HYPHEN}5"], ["5", "5-", "- 5"]),
        ("5", ["5", "5.", "- 5", "...5"], ["-5", "\N{MINUS SIGN}5", ".5"]),
        ("-.5", ["-.5"], [".5", "-5", "5"]),
        ("1e-5", ["1e-5", "1e\N{MINUS SIGN}5"], ["1e5", "-1e5"]),
        ("-$1,000.50", ["-$1,000.50", "-$1000.50"], ["$1000.50", "-$100050"]),
        ("x = -1, y = 2.5", ["x = -1 y = 2.5"], ["x = 1, y = 2.5", "x = -1, y = 25"]),
        ("COVID-19", ["COVID19", "covid\N{HYPHEN}19".upper()], ["19"]),
        ("2020-2021", ["20202021", "2020\N{EN DASH}2021"], ["2020"]),
    ],
)
def test_the_point_and_the_sign_of_a_number_are_no_punctuation(answer: str, right: list[str], wrong: list[str]) -> None:
    assert {text: reward(answer, text, punctuation="ignore") for text in right} == dict.fromkeys(right, 1.0)
    assert {text: reward(answer, text, punctuation="ignore") for text in wrong} == dict.fromkeys(wrong, 0.0)
    assert reward([answer], right[-1], punctuation="ignore", numbers=True) == 1.0


def test_a_number_of_the_row_is_no_other_with_the_same_digits() -> None:
    for answer, text, right in ((3.14, "314", 0.0), (-5, "5", 0.0), (-5, "-5.0", 1.0)):
        assert reward(answer, text, punctuation="ignore") == right


def test_numbers_that_are_equal_and_that_are_not() -> None:
    for text in ("7", "7.0", "7.", "+7", "0007", "7e0", "$7", "7.000"):
        assert reward("7", text, numbers=True) == 1.0, text
        assert reward(7, text) == 1.0, "an answer that is a number is compared as one"
    for text in ("7,000", "7000.0", "7e3", "$7,000"):
        assert reward(7000, text) == 1.0, text
    for text in "7%|14/2|0x7|٧|70e-1x|7 7|seven|7,0|nan|inf|1_000||--7|7,00,0".split("|"):
        assert reward(7, text) == 0.0, text


def test_numbers_are_compared_to_the_last_digit() -> None:
    assert reward("0.1", "0.1000000000000000000001", numbers=True) == 0.0
    assert reward(12345678901234567, "12345678901234568") == 0.0
    assert reward("7", "7.0") == 0.0, "a text is not compared as a number unless that is asked for"


def test_huge_numbers_are_compared_without_being_written_out() -> None:
    for one, other in (("1e9999", "1e9998"), ("1", "1e99999999999"), ("1", "9" * 1_000_000)):
        assert reward(one, other, numbers=True) == 0.0


@pytest.mark.parametrize(
    ("given", "completion", "found"),
    [
        ({"extract": "last_line"}, "Let me see.\nIt is\n42\n\n", "42"),
        ({"extract": "boxed"}, r"so \boxed{41}, no: $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        ({"extract": "boxed"}, r"\boxed{\}}", r"\}"),
        ({"marker": "####"}, "#### 41\n12 + 30\n#### 42\nDone.", "42"),
        ({"marker": "Answer:"}, "ANSWER: 41\nThe answer:\n\n  42\n", "42"),
        ({"pattern": r"is (\d+)"}, "it is 41, no, it is 42.", "42"),
        ({"pattern": r"\d+"}, "41 or 42", "42"),
        ({"pattern": r"(?i)X=(?P<n>[a-z]+)\s*$"}, "x=a\nX=b\n", "b"),
        ({"extract": "whole"}, "<think>41?\n</think>\n42", "42"),
    ],
)
def test_where_the_answer_stands(given: dict[str, JsonValue], completion: str, found: str) -> None:
    grade = graded(task(found), completion, options("exact_match", **given))
    assert (grade.reward, grade.cases[0].actual) == (1.0, found)


@pytest.mark.parametrize(
    ("given", "completion", "reason"),
    [
        ({}, " \n", "no text"),
        ({}, "<think>it is 42", "no text"),
        ({"extract": "boxed"}, r"\boxed{42", "boxed"),
        ({"extract": "boxed"}, "42", "boxed"),
        ({"marker": "####"}, "42", "####"),
        ({"marker": "####"}, "42 ####\n \n", "####"),
        ({"pattern": "is ([0-9]+)"}, "is what", "is ([0-9]+)"),
    ],
)
def test_a_completion_without_an_answer(given: dict[str, JsonValue], completion: str, reason: str) -> None:
    grade = graded(task("42"), completion, options("exact_match", **given))
    assert (grade.verdict, grade.reward) == (Verdict.NO_CODE, 0.0)
    assert reason in str(grade.error_message)
    assert [case.verdict for case in grade.cases] == [Verdict.NOT_RUN]


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "is " * 300_000, "\\boxed{" * 100_000, "{" * 500_000, "####" * 250_000]
)
def test_no_text_makes_it_hang(text: str) -> None:
    for given in ({"pattern": r"(a+)+$|(is )*x(\d)"}, {"extract": "boxed"}, {"marker": "####"}, {"articles": "ignore"}):
        assert reward("no such answer", text, **given) == 0.0


def test_text_that_no_encoding_has() -> None:
    assert reward("x", "\ud800", pattern="(x)") == 0.0
    assert reward("x", "\ud800 is x", pattern="is (x)") == 1.0
    assert reward("x", "\x02x\x03\x00", pattern="(x)") == 1.0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "no answer"),
        ([], "no answer"),
        ({"a": 1}, "dict"),
        ([["a"]], "list"),
        ([None], "NoneType"),
        (float("nan"), "finite"),
        ("  ", "empty"),
        (["a", ""], "empty"),
    ],
)
def test_a_task_whose_answer_can_not_be_used(answer: JsonValue, reason: str) -> None:
    grade = graded(task(answer), "a", "exact_match")
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert reason in str(grade.error_message)
    assert shown_cases(task(answer), "exact_match") == ()
    assert graded(task("!?"), "..", options("exact_match", punctuation="ignore")).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exact_match:pattern=(", "pattern"),
        ("exact_match:pattern=(?=x)", "RE2"),
        ("exact_match:pattern=x,marker=y", "only one of"),
        ("exact_match:extract=boxed,marker=y", "only one of"),
        ("exact_match:marker=", "empty"),
        ("exact_match:case=upper", "one of keep, ignore"),
        ("exact_match:cases=ignore", "cases"),
        ("exact_match:numbers=1", "numbers"),
    ],
)
def test_options_that_can_not_be(text: str, reason: str) -> None:
    with pytest.raises(GraderError, match=r"^grader exact_match: ") as raised:
        get_grader(text)
    assert reason in str(raised.value)


def test_the_test_case_says_how_it_is_compared() -> None:
    [case] = shown_cases(task("x"), "exact_match:marker=####,case=ignore,numbers=true")
    assert case.input == "exact match: the line after '####', case ignore, numbers true"


def test_emphasis_of_the_marker_is_no_part_of_the_answer() -> None:
    for text in ("**Answer:** 42", "__Answer:__ 42", "*Answer:* 42", "so **Answer: 42", "Answer:\n42"):
        assert reward(42, text, marker="Answer:") == 1.0, text


def test_true_is_written_as_json_or_python_writes_it() -> None:
    assert [reward(True, text) for text in ("true", "True", "TRUE", "false")] == [1.0, 1.0, 0.0, 0.0]
