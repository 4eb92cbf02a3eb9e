"""Structured output: each check is scored, and hostile texts are held against a schema without harm."""

import json

import pytest

from evaluator.graders import GraderError, get_grader, shown_cases
from evaluator.model import Grade, JsonValue, Verdict
from tests.graders.answers import graded, options, task

PERSON: dict[str, JsonValue] = {
    "schema": {"type": "object", "properties": {"age": {"type": "integer"}}},
    "required": ["user.name", "tags.0"],
    "ranges": {"age": [0, 120]},
}
RIGHT = '{"user": {"name": null}, "tags": ["x"], "age": 30}'
STRUCTURED = "structured"


def found(completion: str, **given: JsonValue) -> Grade:
    return graded(task(), completion, options(STRUCTURED, **given))


def meets(schema: JsonValue, value: str) -> bool:
    grade = found(value, schema=schema, extract="whole")
    assert grade.cases[0].verdict is Verdict.PASSED, grade.error_message
    return grade.cases[1].verdict is Verdict.PASSED


def test_each_check_is_a_test_case_and_is_scored() -> None:
    of = task(PERSON, STRUCTURED)
    names = ["valid JSON", "schema", "required: user.name", "required: tags.0", "range: age in 0 to 120"]
    assert [case.input for case in shown_cases(of, None)] == names
    grade = graded(of, '{"user": {"name": "Ann"}, "tags": [], "age": 130}')
    passed, wrong = Verdict.PASSED, Verdict.WRONG_ANSWER
    assert [case.verdict for case in grade.cases] == [passed, passed, passed, wrong, wrong]
    assert (grade.verdict, grade.reward, grade.pass_rate) == (wrong, 0.6, 0.6)
    assert grade.error_message == "required: tags.0: it is missing"
    assert [str(case.difference) for case in grade.cases[3:]] == [
        "required: tags.0: it is missing",
        "range: age in 0 to 120: 130 is not in 0 to 120",
    ]
    assert graded(of, RIGHT).reward == 1.0
    strict = task(PERSON, options(STRUCTURED, reward="all"))
    assert graded(strict, '{"user": {"name": "Ann"}, "tags": [1], "age": 130}').reward == 0.0
    assert graded(strict, RIGHT).reward == 1.0


def test_options_and_the_tasks_answer_add_up() -> None:
    given = options(STRUCTURED, schema={"type": "array"}, required=["a", "b"], ranges={"a": [0, 1], "b": [0, 1]})
    own = {"schema": {"type": "object"}, "required": ["b", "c"], "ranges": {"b": [5, None]}}
    names = [case.input for case in shown_cases(task(own, given), None)]
    assert names == [
        "valid JSON", "schema", "required: a", "required: b", "required: c",
        "range: a in 0 to 1", "range: b in 5 or more",
    ]  # fmt: skip
    grade = graded(task(json.dumps(own), given), '{"a": 1, "b": 6, "c": 0}')
    assert grade.reward == 1.0, "the task's schema wins, and it may be a text"


@pytest.mark.parametrize(
    "completion",
    [
        '\n {"a": 1}\n',
        'Sure:\n```json\n{"a": 1}\n```\nor\n```json\n{}\n```',
        'Sure:\n```\n{"a": 1}\n```',
        'Put {braces} and {so on}: {"a": 1}. Done {"b": 2}',
        '[1] and [note]: {"a": 1}',
        '{"a": 1} is it.',
        '<think>\n{"b": 2}\n</think>\n{"a": 1}',
    ],
)
def test_where_the_json_stands(completion: str) -> None:
    assert found(completion, required=["a"]).reward == 1.0


def test_where_it_is_looked_for_can_be_said() -> None:
    fenced = 'Sure:\n```json\n{"a": 1}\n```'
    assert found(fenced, extract="fenced").reward == 1.0
    assert found(fenced, extract="whole").verdict is Verdict.WRONG_ANSWER
    assert found('{"a": 1}', extract="fenced").verdict is Verdict.NO_CODE
    assert found('{"a": 1} and more', extract="whole").error_message == "not JSON: more text after it, from character 9"


@pytest.mark.parametrize("completion", ["", "No.", "<think>{}", "{no: 1}"])
def test_a_completion_without_json(completion: str) -> None:
    grade = found(completion, required=["a"])
    assert (grade.verdict, grade.reward) == (Verdict.NO_CODE, 0.0)
    assert [case.verdict for case in grade.cases] == [Verdict.NOT_RUN] * 2


def test_json_need_not_be_an_object() -> None:
    assert [found(text).reward for text in ("3", '"a"', "[]", "null")] == [1.0] * 4
    assert found('[{"a": 1}] is it', required=["0.a"]).reward == 1.0


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": 1e999}', "beyond a double"),
        ('{"a": 1' + "0" * 5000 + "}", "a number of 5,001 digits"),
        ('{"a": 1, "a": 2}', "the key 'a' twice"),
        ('{"a": 1,}', "not JSON"),
        ('{"a": {"b": 1}', "not JSON"),
        ("[" * 65 + "]" * 65, "deeper than 64"),
        ('{"a":' * 100_000, "deeper than 64"),
        (json.dumps([0] * 20_001), "more than 20,000 values"),
        (json.dumps("x" * 1_000_001), "longer than 1,000,000"),
    ],
)
def test_json_is_read_to_the_letter(completion: str, reason: str) -> None:
    grade = found(completion, required=["b"], extract="whole")
    assert (grade.verdict, grade.reward) == (Verdict.WRONG_ANSWER, 0.0)
    assert reason in str(grade.error_message)
    assert [case.verdict for case in grade.cases] == [Verdict.WRONG_ANSWER, Verdict.NOT_RUN]


@pytest.mark.parametrize(
    "completion",
    ['{"x": NaN, "y": {"a": 1}}', '[{"a": 1}, NaN]', '[NaN, {"a": 1}]', 'So: {"x": , "y": {"a": 1}}', '[[1], {"a": 1}'],
)  # fmt: skip
def test_an_object_inside_of_what_is_broken_is_not_taken_for_it(completion: str) -> None:
    assert found(completion, required=["a"]).reward == 0.0


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("a", True), ("a.b", True), ("a.b.0", True), ("a.b.1", False), ("a.b.-1", False), ("a.b.x", False),
        ("a.c", False), ("/a/b", True), ("/d.e", True), ("d.e", False), ("/f~1g", True), ("a.b.0.0", False),
        ("a.b." + "9" * 5000, False), ("a.b.²", False),
    ],
)  # fmt: skip
def test_paths(path: str, there: bool) -> None:
    grade = found('{"a": {"b": [null]}, "d.e": 1, "f/g": 1}', required=[path])
    assert grade.reward == (1.0 if there else 0.5)


@pytest.mark.parametrize(
    ("ends", "value", "inside"),
    [
        ([0, 1], "0", True), ([0, 1], "1.0", True), ([0, 1], "1.01", False), ([None, 1], "-1e300", True),
        ([1, None], "0", False), ([0, 1], '"1"', False), ([0, 1], "true", False), ([0, 1], "null", False),
        ([0, 1e308], "9" * 300, True), ([0, 1], "9" * 300, False),
    ],
)  # fmt: skip
def test_ranges(ends: JsonValue, value: str, inside: bool) -> None:
    grade = found(f'{{"a": {value}}}', ranges={"a": ends})
    assert grade.reward == (1.0 if inside else 0.5)
    assert found("{}", ranges={"a": [0, 1]}).error_message == "range: a in 0 to 1: it is missing"


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"pattern": "^a+$"}, '"aa"', '"ab"'),
        ({"patternProperties": {"^n_": {"type": "integer"}}}, '{"n_a": 1, "b": ""}', '{"n_a": ""}'),
        ({"properties": {"a": {}}, "additionalProperties": False}, '{"a": 1}', '{"a": 1, "b": 1}'),
        ({"patternProperties": {"^x": {}}, "additionalProperties": {"type": "null"}},
         '{"x": 1, "y": null}', '{"y": 1}'),
        ({"uniqueItems": True}, '[1, true, "1", [1], {"a": 1}]', '[{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]'),
        ({"format": "date"}, '"2024-02-29"', '"2023-02-29"'),
        ({"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}, "[1, 2.5]", '["1"]'),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": True}, "2", "3"),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema",
          "anyOf": [{"type": "null"}, {"items": {"$ref": "#"}}]},
         "[[null]]", None),
        (False, None, "1"),
        ({"multipleOf": 0.5}, "1.5", "0.7"),
    ],
)  # fmt: skip
def test_schemas(schema: JsonValue, right: str | None, wrong: str | None) -> None:
    assert right is None or meets(schema, right)
    assert wrong is None or not meets(schema, wrong)


def test_what_the_schema_says_names_the_place() -> None:
    grade = found('{"a": [1, "x"]}', schema={"properties": {"a": {"items": {"type": "integer"}}}})
    assert grade.error_message == "schema: at $.a[1]: 'x' is not of type 'integer'"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "objekt"}, "not a JSON Schema"),
        ({"properties": {"a": {"pattern": "(?=x)"}}}, "RE2"),
        ({"properties": {"a": {"pattern": "("}}}, "pattern"),
        ({"$ref": "#"}, "refers to itself endlessly"),
        ({"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "together"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "nothing is fetched"),
        ({"$ref": "#/$defs/none"}, "not in it"),
        ({"items": {"$schema": "http://json-schema.org/draft-04/schema#"}}, "$schema"),
    ],
)
def test_a_schema_that_can_not_be_used_leaves_the_task_ungraded(schema: JsonValue, reason: str) -> None:
    grade = graded(task({"schema": schema}, STRUCTURED), "{}")
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert reason in str(grade.error_message)
    with pytest.raises(GraderError, match="structured"):
        get_grader(json.dumps(options(STRUCTURED, schema=schema)))


def test_a_reference_deep_in_a_schema_is_not_fetched_either() -> None:
    grade = graded(task({"schema": {"properties": {"a": {"$ref": "http://127.0.0.1:9/"}}}}, STRUCTURED), '{"a": 1}')
    assert (grade.verdict, grade.reward, grade.cases) == (Verdict.UNKNOWN, None, ())
    assert "nothing is fetched" in str(grade.error_message)


TREE = {"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": ["z"]} for _ in range(4)]}


@pytest.mark.parametrize(
    ("schema", "completion"),
    [
        ({"pattern": "^(a+)+$"}, json.dumps("a" * 50_000 + "!")),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, json.dumps({"a" * 5000 + "!": 1})),
        (TREE, '{"a":' * 60 + "1" + "}" * 60),
        ({"uniqueItems": True}, json.dumps([[n, {"k": n}] for n in range(4000)] + [[0, {"k": 0}]])),
        ({"type": "string", "format": "ipv6"}, '"' + ":" * 1000 + '"'),
    ],
)
def test_a_hostile_text_fails_the_schema_and_costs_little(schema: JsonValue, completion: str) -> None:
    grade = found(completion, schema=schema)
    assert (grade.verdict, grade.reward) == (Verdict.WRONG_ANSWER, 0.5)


def test_an_answer_of_another_grader_is_ignored_where_the_options_have_checks() -> None:
    given = options(STRUCTURED, required=["a"])
    assert graded(task("Paris", given), '{"a": 1}').reward == 1.0
    assert graded(task("Paris", STRUCTURED), '{"a": 1}').verdict is Verdict.UNKNOWN
    assert graded(task({"scheme": {}}, given), '{"a": 1}').verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("{", "can't be used"),
        (3, "can't be used"),
        ({"scheme": {}}, "scheme"),
        ({"ranges": {"a": [2, 1]}}, "lower number first"),
        ({"ranges": {"a": [None, None]}}, "null for an open end"),
        ({"required": "a"}, "required"),
    ],
)
def test_an_answer_that_says_no_checks(answer: JsonValue, reason: str) -> None:
    grade = graded(task(answer, STRUCTURED), "{}")
    assert (grade.verdict, grade.reward) == (Verdict.UNKNOWN, None)
    assert reason in str(grade.error_message)
    assert shown_cases(task(answer, STRUCTURED), None) == ()
