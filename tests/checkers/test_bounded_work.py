"""What a completion writes beyond what is expected costs next to nothing, and changes nothing of what is said.

Work is counted as calls and as memory at its peak, never by the clock.
"""

from collections import Counter, deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.checkers import brief, get_checker, known_checkers, render
from evaluator.flags import Answers, Example
from evaluator.flags.hard_coded import hard_coded_evidence
from evaluator.model import Mode, Task
from tests.checkers import plain_rules
from tests.checkers.work import Work

TEXT = [name for name, checker in known_checkers().items() if "text" in checker.rules]
VALUE = [name for name, checker in known_checkers().items() if "value" in checker.rules]

LENGTH = 300_000
TEXTS = {
    "empty lines": "\n" * LENGTH,
    "empty lines before the end": "5\n" + "\n" * LENGTH + "6",
    "empty lines first": "\n" * LENGTH + "5",
    "lines": "".join(f"{number}\n" for number in range(LENGTH // 7)),
    "the expected lines and many more": "5\n6\n7\n" + "8\n" * (LENGTH // 2),
    "lines with other ends": "5\r\n" * (LENGTH // 3),
    "tokens in a line": "5 " * (LENGTH // 2),
    "a long token": "5" * LENGTH,
    "a long float": "5." + "0" * LENGTH,
    "white space": " " * LENGTH,
    "white space in a line": "5" + " " * LENGTH + "6",
}
SMALL_TEXTS = ["5\n6\n7", "5 6", "5.0", ""]

NUMBER = 230_000
VALUES: dict[str, Any] = {
    "list": list(range(NUMBER)),
    "list of tuples": [(number, 1) for number in range(NUMBER // 4)],
    "deque": deque(range(NUMBER)),
    "dict": {str(number): number for number in range(NUMBER // 2)},
    "dict with keys that are no text": {(number, "a"): 1 for number in range(NUMBER // 4)},
    "set": set(range(NUMBER)),
    "set of tuples": {(number, "a") for number in range(NUMBER // 4)},
    "set of a long tuple": {tuple(range(NUMBER))},
    "Counter": Counter(range(NUMBER)),
    "text": "5" * LENGTH,
}
SMALL_VALUES = [5, [(0, 1)], {"a": 1}, {1, 2}]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("name", TEXT)
def test_a_long_output_costs_a_few_copies_where_little_is_expected(name: str, text: str) -> None:
    check = get_checker(name).rules["text"]
    for expected in SMALL_TEXTS:
        difference = check(expected, text)
        assert difference is None or len(difference.message) <= 300, expected
        work = Work(check, expected, text)
        assert work.calls < 20_000, expected
        assert work.peak < 6 * len(text), expected  # a list of its lines takes eight bytes each, and they 50


def slow_if_rendered(name: str, kind: str) -> object:
    """What other systems say names a set by its least items, whose tuples are compared: half a second."""
    return pytest.param(name, kind, marks=[pytest.mark.slow] if kind == "set of tuples" and name != "value" else [])


@pytest.mark.parametrize(("name", "kind"), [slow_if_rendered(name, kind) for name in VALUE for kind in VALUES])
def test_a_large_value_is_not_walked_where_little_is_expected(name: str, kind: str) -> None:
    for expected in SMALL_VALUES:
        assert Work(get_checker(name).rules["value"], expected, VALUES[kind]).calls < 220_000, expected


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_message_names_a_large_value_by_its_beginning(value: object) -> None:
    assert Work(brief, value).calls < 60_000


def test_a_large_value_is_rendered_not_far_beyond_what_is_shown() -> None:
    shown = render([[number, number + 1] for number in range(NUMBER)], 2_000)
    assert shown.startswith("[[0, 1], [1, 2], ")
    assert shown[2_000:].startswith(" ... more than 1,046,5")
    assert len(shown) < 2_100


def test_numbers_are_shown_alike_however_many_stand_together() -> None:
    odd = [float("inf"), float("nan"), True, None, -(1 << 13_001), 10**3_500, "x", (1,)]
    for item in odd:
        assert render([*range(100), item, *range(100)], 100_000) == (
            f"[{', '.join(map(str, range(100)))}, {render(item, 100_000)}, {', '.join(map(str, range(100)))}]"
        )


def test_a_small_part_is_distinguished_from_a_value_that_is_larger_than_all_that_is_expected() -> None:
    huge = tuple(range(NUMBER))
    found = get_checker("unordered").rules["value"]([[1, 2], [3]], [(3,), huge])
    assert found is not None
    assert found.message.startswith("missing [1, 2]; (0, 1, 2, ")


@pytest.mark.parametrize("name", ["value", "python", "unordered"])
def test_sets_and_dicts_of_another_size_say_so(name: str) -> None:
    rule = get_checker(name).rules["value"]
    for expected, actual, kind in [({1}, set(range(1003)), "items"), ({"1": 1}, {n: n for n in range(1003)}, "keys")]:
        refused = rule(expected, actual)
        assert refused is not None
        assert refused.message == f"1 {kind} expected, got 1,003"


def test_a_counter_equals_one_with_any_number_of_zeros() -> None:
    zeros = Counter(dict.fromkeys(range(NUMBER), 0))
    rule = get_checker("python").rules["value"]
    assert rule(Counter(a=1), zeros | Counter(a=1)) is None
    assert rule(Counter(), zeros) is None
    assert rule(Counter(), Counter({**zeros, "a": 2})) is not None


@pytest.mark.parametrize("count", [1, 65_536, 65_537])
@pytest.mark.parametrize("name", ["lines", "floats", "tokens", "unordered"])
def test_a_difference_is_found_wherever_it_stands_in_a_long_output(name: str, count: int) -> None:
    rule = get_checker(name).rules["text"]
    lines = [f"{number}.5" for number in range(count)]
    text = "\n".join(lines)
    assert rule(text, "\n".join(f" {line}\r" for line in lines) + "\n\n") is None
    for actual, line in [
        ([*lines[:-1], "x"], count),
        (["x", *lines[1:]], 1),
        ([*lines, "x"], count + 1),
        (lines[:-1], count - (name == "tokens")),
    ]:
        found = rule(text, "\n".join(actual))
        assert found is not None
        assert found.line == max(line, 1)


texts = st.text(st.sampled_from("015.e-+x_ \n\n\r\t\x0b\x85")) | st.lists(
    st.sampled_from(["5", "5.0", "50e-1", "4.9999999", "007", "7.", "x", " ", "\n", "\r\n", "\n\n", "1e9"]), max_size=12
).map("".join)


@given(expected=texts, actual=texts, copied=st.booleans(), end=texts)
def test_the_bounded_rules_are_the_plain_ones(expected: str, actual: str, copied: bool, end: str) -> None:
    actual = expected + end if copied else actual

    def place(name: str) -> tuple[int | None, int | None] | None:
        found = get_checker(name).rules["text"](expected, actual)
        return found and (found.line, found.column)

    differing = plain_rules.lines_with_a_difference(expected, actual)
    lines, floats = place("lines"), place("floats")
    assert (lines and lines[0]) == (differing[0] if differing else None)
    assert (floats and floats[0]) == plain_rules.floats(expected, actual)
    assert place("tokens") == plain_rules.tokens(expected, actual)
    assert place("unordered") == plain_rules.unordered(expected, actual)
    equal = expected.rstrip("\n") == actual.rstrip("\n")
    assert (place("verl_sandbox_fusion") is None) is equal


@given(expected=texts, actual=texts)
def test_colossalai_compares_all_lines_however_few_are_looked_at(expected: str, actual: str) -> None:
    """By its source's own words, which split everything; what it takes for numbers is left out."""
    lines, wanted = actual.splitlines(), expected.strip()
    wanted_lines = [line.strip() for line in expected.split("\n") if line]
    equal = wanted in ("\n".join(lines).strip(), "\n".join(line.strip() for line in lines).strip()) or wanted_lines in (
        lines,
        [line for line in lines if line],
    )
    found = get_checker("colossalai").rules["text"](expected, actual)
    if equal or not any(character.isdigit() for character in expected):
        assert (found is None) is equal


def test_a_code_that_is_too_long_to_be_read_is_not_searched_for_answers() -> None:
    answers = Answers(Example(number, (number * 1001, 7), number * 7007) for number in range(1, 100))
    code = "def f(a, b):\n    return 0\n" + "# 1001\n" * 200_000
    assert Work(hard_coded_evidence, Task(task_id="f", mode=Mode.CALL), code, answers).peak < len(code)
