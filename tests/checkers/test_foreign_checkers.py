"""Other systems' rules: what each accepts and refuses, as its source says and its runs showed."""

from collections import OrderedDict

import pytest

from evaluator.checkers import get_checker
from evaluator.model import Opaque

TEXT = [
    # expected, actual, and who accepts it
    ("1\n2", "1\n2\n", "colossalai livecodebench nemo_gym sandbox_fusion verl_sandbox_fusion"),
    ("1\n2", " 1 \n2", "colossalai livecodebench nemo_gym sandbox_fusion"),
    ("1\n\n2", "1\n2", "colossalai"),
    ("1\n2", "1\n\n2", "colossalai"),
    ("1 2", "1\n2", ""),
    ("1 2", "1  2", "livecodebench nemo_gym"),
    ("a b", "a  b", ""),
    ("YES", "Yes", "nemo_gym sandbox_fusion"),
    ("Alice", "ALICE", "sandbox_fusion"),
    ("1.0", "1", "colossalai livecodebench nemo_gym sandbox_fusion"),
    ("0.1", "0.10000001", "colossalai nemo_gym sandbox_fusion"),
    ("0.1 0.3", "0.1 0.30000000000000004", "nemo_gym"),
    ("-1000000", "-1000005", "colossalai sandbox_fusion"),
    ("1000000", "1000005", "sandbox_fusion"),
    ("007", "7", "livecodebench nemo_gym sandbox_fusion"),
    ("-10", "-1_0", "colossalai livecodebench nemo_gym sandbox_fusion"),
    ("Infinity", "inf", "colossalai livecodebench nemo_gym sandbox_fusion"),
    ("Infinity", "-inf", ""),
    ("nan", "NaN", "sandbox_fusion"),
    ("1e400", "1e400", "colossalai livecodebench nemo_gym sandbox_fusion verl_sandbox_fusion"),
    ("1e999999999999999999", "1e999999999999999998", "colossalai sandbox_fusion"),
    ("a\x0cb", "a\nb", ""),
    ("a\nb", "a\x0cb", "colossalai"),
    ("", "", "colossalai livecodebench nemo_gym sandbox_fusion verl_sandbox_fusion"),
]

VALUES = [
    ([1, 2], (1, 2), "colossalai livecodebench nemo_gym"),
    ([[1, 2]], [(1, 2)], "nemo_gym"),
    ([[[1, 2]]], [(1, 2)], "colossalai"),
    ([1, 2, 3], 1, "colossalai"),
    ([[1, 2]], [1, 2], "colossalai"),
    (0.3, 0.1 + 0.2, "nemo_gym"),
    (1, True, "colossalai livecodebench nemo_gym"),
    ({"1": 2}, {1: 2}, "colossalai nemo_gym"),
    ({"1": 2}, {"1": 2}, "livecodebench nemo_gym"),
    ({"a": 2}, OrderedDict(a=2), "colossalai livecodebench nemo_gym"),
    ([{"1": 2}, {"3": 4}], [{1: 2}, {3: 4}], "nemo_gym"),
    ([{"1": 2}, {"3": 4}], {1: 2}, "colossalai"),
    ("a", "a ", ""),
    (float("nan"), float("nan"), "nemo_gym"),
    ([1], {1}, ""),
    ([1], Opaque("Sly", "equal to all"), ""),
    ([], [], "colossalai livecodebench nemo_gym"),
]

FOREIGN = ["colossalai", "livecodebench", "nemo_gym", "sandbox_fusion", "verl_sandbox_fusion"]


def accepting(kind: str, expected: object, actual: object) -> str:
    rules = {name: get_checker(name).rules.get(kind) for name in FOREIGN}
    return " ".join(name for name, rule in rules.items() if rule is not None and rule(expected, actual) is None)


@pytest.mark.parametrize(("expected", "actual", "names"), TEXT)
def test_an_output_is_accepted_by_these_systems_alone(expected: str, actual: str, names: str) -> None:
    assert accepting("text", expected, actual) == names


@pytest.mark.parametrize(("expected", "actual", "names"), VALUES)
def test_a_value_is_accepted_by_these_systems_alone(expected: object, actual: object, names: str) -> None:
    assert accepting("value", expected, actual) == names


@pytest.mark.parametrize("name", FOREIGN)
def test_a_refusal_says_where_or_whose_rule_it_was(name: str) -> None:
    rule = get_checker(name).rules["text"]
    refused = rule("1\n2\n3", "1\n2\n4")
    assert refused is not None
    assert (refused.line, refused.column) == (3, 1)
    missing = rule("1\n2\n3", "1")
    assert missing is not None
    assert "2 lines are missing from line 2: expected '2'" in missing.message


def test_what_our_rule_would_accept_is_reported_as_the_other_system_s() -> None:
    refused = get_checker("verl_sandbox_fusion").rules["text"]("1 \n2", "1\n2")
    assert refused is not None
    assert refused.message == "equal line by line or within 1e-6, but verl refuses it"
