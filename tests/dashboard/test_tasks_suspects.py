"""Which tasks' tests look wrong, and the orders of the list of tasks."""

import pytest

import evaluator
from dashboard import workspace
from dashboard.queries import answers, dataset, listing, options
from dashboard.state import Filter
from dashboard.suspicions import findings
from dashboard.tasks import task_list
from dashboard.tasks.task_list import reason_text
from dashboard.workspace import Entry, OpenRun
from evaluator.model import CaseResult, Grade, Mode, Rollout, Task, TestCase, Verdict
from evaluator.references import reference_grades
from evaluator.runs.notes import note_task
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import Written, row

DOUBLE = "def double(x):\n    return 2 * x\n"


def call(task_id: str, *cases: tuple[str, str], **more: str) -> Task:
    tests = tuple(TestCase(index, *case) for index, case in enumerate(cases))
    return Task(task_id=task_id, mode=Mode.CALL, entry_point="double", cases=tests, reference=DOUBLE, **more)  # type: ignore[arg-type]


TASKS = [call(f"t/{number}", ("1", "2"), ("2", "4"), ("3", "6")) for number in (1, 2, 3, 10, 11)]
WRONG = call("t/9", ("1", "2"), ("2", "5"), ("3", "6"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    """Six tasks with four samples each: two that double, one that adds one, one that raises."""
    path = tmp_path_factory.mktemp("runs") / "doubles"
    codes = [DOUBLE, DOUBLE, "def double(x):\n    return x + 1\n", "def double(x):\n    return x.y\n"]
    tasks = [*TASKS, WRONG]
    rollouts = [
        Rollout(task_id=task.task_id, sample_id=f"{task.task_id}#{n}", completion=code)
        for task in tasks
        for n, code in enumerate(codes)
    ]
    by_sample = {grade.sample_id: grade for grade in evaluator.grade_all(tasks, rollouts, workers=1)}
    found = [(rollout, by_sample[rollout.sample_id]) for rollout in rollouts]
    return workspace.open_run(Entry("doubles", rows.write(path, found, *tasks)))


def listed(run: OpenRun, sort: str = "", filter_: Filter | None = None) -> list[str]:
    return [line.task_id for line in dataset.task_lines(run, filter_ or Filter(), sort, 1)]


def test_a_test_that_nobody_passes_is_listed_first_with_the_reason_in_words(run: OpenRun) -> None:
    first = dataset.task_lines(run, Filter(), "", 1)[0]
    assert (first.task_id, first.passed, first.graded) == ("t/9", 0, 4)
    assert [reason_text(reason, first.tests) for reason in first.reasons] == [
        "test 1: nobody passes (0 of 4 that ran it)"
    ]
    assert not any(line.reasons for line in dataset.task_lines(run, Filter(), "", 1)[1:])


def test_a_test_that_most_fail_alike_and_nothing_else_is_a_suspect_though_some_pass_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    doubles, adds = DOUBLE, "def double(x):\n    return x + 1\n"
    tasks = {
        "wrong": (call("wrong", ("1", "2"), ("3", "4")), [doubles] * 3 + [adds] * 2),
        "as many": (call("as many", ("1", "2"), ("3", "4")), [doubles] * 3 + [adds] * 3),
        "one test": (call("one test", ("3", "4")), [doubles] * 3),
        "other answers": (
            call("other answers", ("1", "2"), ("3", "4")),
            [f"{DOUBLE[:-1]} + (x > 2) * {n}" for n in range(3)],
        ),
    }
    rollouts = [
        Rollout(task_id=name, sample_id=f"{name}#{n}", completion=code)
        for name, (_, codes) in tasks.items()
        for n, code in enumerate(codes)
    ]
    made = [task for task, _ in tasks.values()]
    by_sample = {grade.sample_id: grade for grade in evaluator.grade_all(made, rollouts, workers=1)}
    path = tmp_path_factory.mktemp("runs") / "alike"
    run = workspace.open_run(
        Entry("alike", rows.write(path, [(each, by_sample[each.sample_id]) for each in rollouts], *made))
    )
    lines = dataset.task_lines(run, Filter(), "", 1)
    found = {line.task_id: [reason_text(reason, line.tests) for reason in line.reasons] for line in lines}
    assert found["wrong"] == ["test 1: 3 samples fail nothing else, with one answer; 2 pass"]
    assert [found[name] for name in ("as many", "one test")] == [
        [],
        ["test 0: nobody passes, 3 of 3 agree on another answer"],
    ]
    assert found["other answers"] == ["test 1: nobody passes (0 of 3 that ran it)"]


def test_two_comes_before_ten(run: OpenRun) -> None:
    assert listed(run, "task") == ["t/1", "t/2", "t/3", "t/9", "t/10", "t/11"]
    assert [row.task_id for row in listing.grid(run, Filter(), "task", 1)] == listed(run, "task")
    assert listed(run, "file") == ["t/1", "t/2", "t/3", "t/10", "t/11", "t/9"]
    assert listed(run, "rate")[0] == "t/9"


def test_tasks_that_are_no_suspects_are_listed_by_their_pass_rate(written: Written) -> None:
    tasks = [call(name, ("1", "2")) for name in ("half", "never", "whole")]
    rewards = [("half", 1.0), ("half", 0.0), ("never", 0.0), ("whole", 1.0)]
    found = [row(task, f"{task}#{at}", reward=reward) for at, (task, reward) in enumerate(rewards)]
    assert listed(written(found, *tasks)) == ["never", "half", "whole"]


def test_a_seed_always_draws_the_same_tasks(run: OpenRun) -> None:
    drawn = listed(run, "random:3:7")
    assert len(drawn) == 3
    assert dataset.task_total(run, Filter(), "random:3:7") == 3
    assert listed(run, "random:3:7") == drawn
    assert listed(run, "random:6:7")[:3] == drawn
    assert {tuple(listed(run, f"random:3:{seed}")) for seed in range(5)} != {tuple(drawn)}
    assert drawn == ["t/3", "t/1", "t/11"], "the order is decided by the seed alone, on every machine and version"


def test_the_filter_lists_tasks_with_a_rollout_in_it_and_its_text_is_looked_for_in_ids(run: OpenRun) -> None:
    assert listed(run, "task", Filter(q="T/1")) == ["t/1", "t/10", "t/11"]
    assert listed(run, "task", Filter(verdicts=("passed",))) == ["t/1", "t/2", "t/3", "t/10", "t/11"]
    assert dataset.task_total(run, Filter(q="t/1", verdicts=("passed",))) == 3
    assert dataset.task_total(run, Filter(tag="bad")) == 0


def test_answers_are_counted_and_name_their_samples(run: OpenRun) -> None:
    found = answers.of_test(run, "t/9", 1)
    assert [(a.verdict, a.text, a.error, a.rollouts, a.samples) for a in found.rows] == [
        ("wrong_answer", "4", None, 2, ["t/9#0", "t/9#1"]),
        ("wrong_answer", "3", None, 1, ["t/9#2"]),
        ("runtime_error", None, "AttributeError", 1, ["t/9#3"]),
    ]
    short = answers.by_test(run, "t/9")
    assert [(a.verdict, a.text, a.rollouts) for a in short[0]] == [("passed", "2", 3), ("error", None, 1)]
    assert [a.text for a in short[1]] == ["4", "3", None]


def test_a_samples_own_answer_is_known_though_more_samples_gave_it_than_are_listed(written: Written) -> None:
    case = CaseResult(index=0, verdict=Verdict.WRONG_ANSWER, expected="1", actual="2")
    many = answers.SAMPLES_LISTED + 1
    run = written([row("t", f"t#{place}", reward=0.0, cases=(case,)) for place in range(many)])
    [answer] = answers.of_test(run, "t", 0, f"t#{many - 1}").rows
    assert (answer.rollouts, len(answer.samples), answer.is_own) == (many, answers.SAMPLES_LISTED, True)
    assert not answers.of_test(run, "t", 0, "another").rows[0].is_own


@pytest.mark.parametrize("tests", [(None,), (1,), (None, 0, 1)])
def test_a_judgement_of_a_task_or_a_test_case_is_a_tag_of_its_rollouts(
    run: OpenRun, tests: tuple[int | None, ...]
) -> None:
    for test in tests:
        note_task(run.path, "t/9", test, judgement="bad")
    try:
        again = workspace.open_run(Entry("doubles", run.path))
        assert listed(again, "", Filter(tag="bad")) == ["t/9"]
        assert options.options(again, Filter())["tag"].rows == [("bad", 4)]
    finally:
        for test in tests:
            note_task(run.path, "t/9", test, judgement=None)


def test_a_reference_that_fails_or_is_slow_makes_its_task_a_suspect(run: OpenRun) -> None:
    grades = {grade.task_id: grade for grade in reference_grades([TASKS[0], WRONG], workers=1)}
    assert task_list.finding(grades["t/1"]) is None
    fault = task_list.finding(grades["t/9"])
    assert fault is not None
    assert fault.why == "its own reference does not pass: wrong_answer, test 1: expected 5, got 4"
    dataset.note_reference(run, "t/10", fault)
    assert listed(run)[0] == "t/10"
    dataset.note_reference(run, "t/10", None)
    assert listed(run)[0] == "t/9"
    slow = sample_run.passed(0, "2")
    slow.wall_s = 4.0
    late = task_list.finding(Grade(task_id="t/1", sample_id="", verdict=slow.verdict, reward=1.0, cases=(slow,)))
    assert late is not None
    assert (late.test, late.why) == (0, "the reference takes 4.00 s of 10 s")


def stdin(given: str, expected: str, **more: str) -> Task:
    return Task(task_id="a", mode=Mode.STDIN, cases=(TestCase(0, given, expected),), **more)  # type: ignore[arg-type]


PAIRS = "Example 1:\nInput: nums = [1, 2], k = 2\nOutput: 4\n"
ANY_ORDER = "Return the pairs in any order."
SECTIONS = "Add.\n\n-----Input-----\n\nTwo.\n\n-----Output-----\n\nOne.\n\n-----Examples-----\n"
HEADINGS = "Add.\n\n### Input\n\nTwo.\n\n**Sample Input 1**\n```\n1 2\n```\n\n**Sample Output 1**\n3\n"
ANOTHER = [("contradiction", 1, "the input of test 0, another expected output")]
ASSERTS = (TestCase(0, "assert f(1) == 2", "2"), TestCase(1, "assert f(1)  == 3", "3"))


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (call("a", ("1", "2"), ("1", "2")), [("repeat", 1, "the same as test 0")]),
        (call("a", ("1", "2"), ("1", "3")), ANOTHER),
        (Task(task_id="a", mode=Mode.ASSERT, entry_point="f", cases=ASSERTS), ANOTHER),
        (call("a", ("1", "")), [("empty", 0, "the expected output is empty")]),
        (call("a"), [("untested", None, "no test case can run")]),
        (call("a", ("1", "2"), prompt="Double it.\n>>> double(1)\n2\n>>> double(21)\n42\n>>> other(5)\n"),
         [("examples", None, "1 example of the prompt not tested: double(21)")]),
        (call("a", ("[2, 1]\n2", "4"), prompt=PAIRS),
         [("examples", None, "1 example of the prompt not tested: double(nums = [1, 2], k = 2)")]),
        (call("a", ("[1, 2]\n2", "4"), prompt=PAIRS), []),
        (stdin("1 2\n", "3\n", prompt=f"{SECTIONS}Input\n1 2\n\nOutput\n3\n\nInput\n4 5\n\nOutput\n9\n"),
         [("examples", None, "1 example of the prompt not tested: 4 5")]),
        (stdin("1 2\n", "3\n", prompt=HEADINGS), []),
        (call("a", ("1", "[1, 2]"), prompt=ANY_ORDER),
         [("order", None, "the prompt allows several answers, the checker one")]),
        (call("a", ("1", "[1, 2]"), prompt=ANY_ORDER, checker="unordered"), []),
        (stdin("a\r\nb\n", "1\n"), [("carriage_returns", 0, "its input has carriage returns, which input() keeps")]),
        (stdin("1", "0.5\n", checker="lines"), [("decimals", 0, "decimals, compared as text by lines")]),
        (stdin("1", "0.5\n"), []),
    ],
)  # fmt: skip
def test_reading_a_task_finds_what_is_odd(task: Task, said: list[tuple[str, int | None, str]]) -> None:
    assert [(each.kind, each.test, each.why) for each in findings(task, task.cases, None)] == said


def test_the_tables_are_made_once_for_a_run_and_again_when_it_has_grown(run: OpenRun) -> None:
    dataset.prepare(run)
    dataset.note_reference(run, "t/11", dataset.Finding("reference", "kept", 9))
    dataset.prepare(run)
    assert [each.why for each in dataset.suspects_of(run, "t/11")] == ["kept"]
    dataset.note_reference(run, "t/11", None)


def test_two_samples_that_agree_on_another_answer_than_the_expected_one_are_enough(written: Written) -> None:
    task = call("t", ("1", "2"), ("2", "5"))
    wrong = CaseResult(index=1, verdict=Verdict.WRONG_ANSWER, expected="5", actual="4")
    run = written([row("t", sample, reward=0.0, code=DOUBLE, cases=(wrong,)) for sample in "ab"], task)
    [line] = dataset.task_lines(run, Filter(), "", 1)
    assert [reason.why for reason in line.reasons] == ["nobody passes, 2 of 2 agree on another answer"]
