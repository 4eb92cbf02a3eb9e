"""EvalPlus: a check is made of inputs and a solution, with EvalPlus's own idea of what is right."""

import pytest

from evaluator.formats import load_rollouts, load_tasks
from evaluator.model import Kind, Mode
from evaluator.suites.reading.plan import plan_suite

PROMPT = 'import math\n\ndef halve(x):\n    """Half of it."""\n'
ROW = {
    "task_id": "HumanEval/900", "prompt": PROMPT, "entry_point": "halve", "canonical_solution": "    return x / 2\n",
    "test": "def check(candidate):\n    assert candidate(2) == 1\n", "contract": "    assert x\n",
    "base_input": [[2], [3]], "plus_input": [[0.1], [1e300]], "atol": 0,
}  # fmt: skip


def mbpp(number, entry_point, solution, *inputs, **fields):
    return {
        "task_id": f"Mbpp/{number}", "prompt": '"""\nDo it.\n"""\n', "entry_point": entry_point,
        "canonical_solution": f"\n{solution}\n", "base_input": list(inputs[:1]), "plus_input": list(inputs[1:]),
        "atol": 0, "contract": "", "assertion": "assert True", **fields,
    }  # fmt: skip


@pytest.fixture
def task(read):
    def task(row):
        format_, (task,), problems = read(load_tasks, row)
        assert (format_, problems) == ("evalplus", [])
        return task

    return task


def test_the_check_runs_the_solution_on_both_kinds_of_input(task, passes):
    made = task(ROW)
    assert (made.mode, made.entry_point, made.preamble) == (Mode.ASSERT, "halve", "import math\n\n")
    assert made.reference == PROMPT + "    return x / 2\n"
    assert passes(made, made.reference)
    assert passes(made, "def halve(x):\n    return x * (0.5 + 1e-9)\n"), "near a float is right"
    assert not passes(made, "def halve(x):\n    return 1 if x == 2 else 1.5\n"), "right for the base inputs alone"
    assert not passes(made, "def halve(x):\n    return x / 2 if x < 3 else 0.0\n")


def test_its_grades_are_verified(task):
    made = plan_suite(task(ROW))
    assert (made.one_process, made.proves_nothing) == (None, None)


def test_the_inputs_are_at_most_sixteen_statements_each(task):
    body = task(ROW | {"base_input": [[1]] * 33, "plus_input": [[1]]}).test.partition("def check(candidate):\n")[2]
    parts = [line.split("_INPUTS")[1] for line in body.splitlines()]
    assert parts == [*(f"[{n}:{n + 3}])" for n in range(0, 33, 3)), "[0:1])"]


def test_a_wrong_answer_names_the_call(task):
    scope = {}
    exec(task(ROW).test, scope)
    with pytest.raises(AssertionError, match=r"wrong for halve\(3\)"):
        scope["check"](lambda x: 1.0)


def test_neither_side_sees_what_the_other_does_to_an_argument(task, passes):
    solution = "    x.append(1)\n    return len(x)\n"
    made = task(ROW | {"base_input": [[[]]], "plus_input": [[[1]]], "canonical_solution": solution})
    assert passes(made, made.reference)
    assert passes(made, "def halve(x):\n    x[:] = x * 2 + [0] if not x else [0, 0]\n    return len(x)\n")


def test_a_solution_that_calls_itself_and_helpers_is_left_as_it_is(task, passes):
    prompt = "def helper(n):\n    return n\n\ndef total(n):\n    '''Sum to n.'''\n"
    solution = "    return total(n - 1) + helper(n) if n else 0\n"
    inputs = {"base_input": [[4]], "plus_input": [[0]]}
    made = task(ROW | inputs | {"prompt": prompt, "entry_point": "total", "canonical_solution": solution})
    assert passes(made, "def total(n):\n    return n * (n + 1) // 2\n")
    assert not passes(made, "def total(n):\n    return n * n // 2\n")


@pytest.mark.parametrize(
    ("atol", "solution", "right", "wrong"),
    [
        (0, "[1.0, 2.0]", "[1.0, 2.0 + 1e-7]", "[1.0, 2.1]"),
        (0, "[1.0, 2.0]", "[1, 2]", "[1.0, 2.0, 3.0]"),
        (0, "3", "3.0", "3.0000001"),
        (0, "1e9", "1e9 + 10", "1e9 + 1000"),
        (0.1, "(1.0, 'a')", "(1.05, 'a')", "(1.05, 'b')"),
        (0.1, "1.0", "1.05", "1.2"),
        (0.1, "[1.0]", "[1.05]", "(1.05,)"),
        (0, "float('inf')", "float('inf')", "1.0"),
        (0, "1.0", "1.0", "float('nan')"),
        (0, "'1.0'", "'1.0'", "1.0"),
        (0, "None", "None", "0"),
    ],
)
def test_what_is_near_enough(task, passes, atol, solution, right, wrong):
    made = task(ROW | {"canonical_solution": f"    return {solution}\n", "atol": atol})
    assert passes(made, f"def halve(x):\n    return {right}\n")
    assert not passes(made, f"def halve(x):\n    return {wrong}\n")


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        (mbpp(2, "similar_elements", "def similar_elements(a, b): return (1, 2)", [[1], [2]]), "[2, 1, 1]", "(1,)"),
        (mbpp(794, "text_starta_endb", "def text_starta_endb(t): return object()", ["ab"]), "True", "None"),
        (mbpp(794, "text_starta_endb", "def text_starta_endb(t): return None", ["b"]), "None", "'b'"),
        (mbpp(295, "sum_div", "def sum_div(n): return 1", [1]), "0", "2"),
        (mbpp(581, "surface_Area", "def surface_Area(b, h): return 33", [3, 4]), "35", "34"),
        (mbpp(558, "digit_distance_nums", "def digit_distance_nums(a, b): return 1", [10, 9]), "10", "2"),
        (ROW | {"task_id": "HumanEval/32", "entry_point": "find_zero", "base_input": [[[-4, 0, 1]]], "plus_input": [],
                "prompt": "def find_zero(xs):\n    '''A root.'''\n", "canonical_solution": "    return 2.0\n",
                "atol": 1e-4}, "-2.0", "0.0"),
    ],
)  # fmt: skip
def test_tasks_with_more_than_one_right_answer(task, passes, row, right, wrong):
    made = task(row)
    assert passes(made, made.reference)
    assert passes(made, f"def {made.entry_point}(*args):\n    return {right}\n")
    assert not passes(made, f"def {made.entry_point}(*args):\n    return {wrong}\n")


def test_a_task_that_asks_for_nothing_in_particular_takes_any_answer(task, passes):
    made = task(mbpp(164, "are_equivalent", "def are_equivalent(a, b): return True", [1, 2]))
    assert passes(made, "def are_equivalent(a, b):\n    return None\n")


@pytest.mark.parametrize(
    ("number", "given", "meant"),
    [
        (2, [[1], [2, 3]], [(1,), (2, 3)]),
        (63, [[[1, 2], [3]]], [[(1, 2), (3,)]]),
        (259, [[[1], [2]], [[3]]], [((1,), (2,)), ((3,),)]),
        (278, [[1, [2, 3]]], [(1, (2, 3))]),
        (580, [[1, [2, [3]]]], [(1, (2, (3,)))]),
        (307, [[1], 2, [3]], [(1,), 2, [3]]),
        (106, [[1], [2]], [[1], (2,)]),
        (75, [[[1], [2]], 3], [[(1,), (2,)], 3]),
        (722, [{"a": [1, 2]}, 3], [{"a": (1, 2)}, 3]),
        (115, [[[1, 2], []]], [[{1, 2}, {}]]),
        (252, ["(1+2j)"], [1 + 2j]),
        (252, ["infj"], [complex("infj")]),
        (124, ["0", "1j"], [0.0, 1j]),
        (3, [[1], float("inf"), True, None, "é'\n"], [[1], float("inf"), True, None, "é'\n"]),
    ],
)
def test_arguments_have_the_types_that_json_has_not(task, number, given, meant):
    seen = []
    scope = {}
    exec(task(mbpp(number, "f", "def f(*args): return 0", given)).test, scope)
    scope["check"](lambda *arguments: seen.append(list(arguments)) or 0)
    assert [(type(a), a) for a in seen[0]] == [(type(a), a) for a in meant]


def test_rows_without_inputs_or_without_a_solution_load_without_a_test(read):
    rows = [ROW | {"base_input": [], "plus_input": []}, ROW | {"task_id": "HumanEval/901", "canonical_solution": ""}]
    format_, tasks, problems = read(load_tasks, *rows)
    assert (format_, problems) == ("evalplus", [])
    assert [(t.test, t.cases) for t in tasks] == [(None, ()), (None, ())]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW | {"plus_input": [1]}, "plus_input must be a list of argument lists"),
        (ROW | {"base_input": {"a": 1}}, "base_input must be a list of argument lists"),
        (ROW | {"atol": -1}, "atol must be a number that is 0 or more, not -1.0"),
        (ROW | {"entry_point": "halve it"}, "entry_point must be a Python name, not 'halve it'"),
        (mbpp(2, "f", "def f(a): return a", [[1]], [5]), "plus_input[0] does not fit the arguments of Mbpp/2"),
    ],
)
def test_a_broken_row_is_reported_in_one_line(read, row, message):
    _, tasks, (problem,) = read(load_tasks, row, format="evalplus")
    assert tasks == []
    assert message in problem


def test_samples(read):
    rows = [
        {"task_id": "HumanEval/0", "solution": "def f(x): return 1\n"},
        {"task_id": "Mbpp/2", "solution": "Sure:\n```python\ndef f(x): return 1\n```\n"},
        {"task_id": "Mbpp/2", "solution": "x", "base_status": "pass", "plus_status": "fail"},
        {"task_id": "Mbpp/2", "solution": "x", "base_status": "pass", "plus_status": None},
        {"task_id": "HumanEval/0", "completion": "    return 1\n"},
    ]
    format_, rollouts, problems = read(load_rollouts, *rows)
    assert (format_, problems) == ("evalplus", [])
    assert [r.kind for r in rollouts] == [Kind.FULL, None, Kind.FULL, Kind.FULL, None]
    assert [r.expected_pass for r in rollouts] == [None, None, False, True, None]
    assert [r.sample_id for r in rollouts] == ["HumanEval/0#0", "Mbpp/2#0", "Mbpp/2#1", "Mbpp/2#2", "HumanEval/0#1"]
