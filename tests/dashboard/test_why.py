"""The Why tab: a replay on the page, its loops and branches, and what it says when it can't."""

import msgspec
import pytest

from dashboard import workspace
from dashboard.queries.records import CaseRecord
from dashboard.why import control_flow, why
from dashboard.why.control_flow import Fold, Node
from evaluator.model import Limits, Mode, Task, TestCase
from evaluator.sandbox import Outcome, Status, Stream
from evaluator.tracing import End, Replay, Step, Trace
from evaluator.tracing import replay as traced
from tests.dashboard import sample_run
from tests.dashboard.test_pages import click, component, no_exception, text, visit

pytestmark = pytest.mark.usefixtures("opened")


def steps_of(code: str, stdin: str = "") -> list[Step]:
    task = Task(task_id="t", mode=Mode.STDIN, cases=(TestCase(0, stdin, ""),))
    return traced(task, code, 0, limits=Limits()).trace.steps


def drawn(steps: list[Step], nodes: list[Node]) -> list[object]:
    """Line numbers, and (times, first line, last line) of folds."""
    return [(n.times, n.first, n.last) if isinstance(n, Fold) else steps[n].line for n in nodes]


FAILING = {"task": "math/add", "sample": "add#1", "test": "1", "tab": "why"}


def test_a_failing_test_case_is_replayed_once_to_the_line_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    app = visit("completion", **FAILING)
    data = component(app, "steps")
    assert [step["line"] for step in data["steps"]] == [2, 3, 4]
    assert data["steps"][-1]["said"] == "raised AttributeError: 'int' object has no attribute 'plus'"
    assert data["steps"][0]["changed"] == [["total", "1"]]
    assert "3 steps" in text(app)
    assert "the replay" not in text(app), "it ended as in the run"
    monkeypatch.setattr(why, "replay", None)  # a second look runs nothing
    app.run()
    no_exception(app)
    assert component(app, "steps") == data


def test_a_replay_that_ends_otherwise_says_so() -> None:
    app = visit("completion", task=f"text/{sample_run.HOSTILE}", test="0", tab="why")
    assert "printed another output than the run" in text(app)


def test_beside_the_editor_the_edit_is_replayed_and_elsewhere_the_runs_code() -> None:
    app = visit("completion", **FAILING, view="edit")
    first = component(app, "steps")
    assert [step["line"] for step in first["steps"]] == [2, 3, 4]
    assert "Replay of" not in text(app), "nothing is edited yet"
    app.text_area[0].set_value("def add(a, b):\n    c = a + b\n    return c\n").run()
    no_exception(app)
    edited = component(app, "steps")
    assert [step["code"] for step in edited["steps"]] == ["c = a + b", "return c"]
    assert edited["key"] != first["key"], "the list begins anew"
    assert "Replay of the edit." in text(app)
    assert "The run raised" not in text(app)
    app.text_area[0].set_value("def add(a, b):\n    return a * b\n").run()
    again = component(app, "steps")
    assert [step["code"] for step in again["steps"]] == ["return a * b"]
    assert again["key"] != edited["key"]
    click(app, "edit")
    assert component(app, "steps") == first
    assert "Replay of the run&#x27;s code; open Edit" in text(app)


def test_an_edit_is_replayed_on_a_test_case_that_the_run_left_out() -> None:
    app = visit("completion", task="text/all-kinds", sample="k/time_limit", test="1", tab="why", view="edit")
    app.text_area[0].set_value("answer = 1\n").run()
    assert [step["code"] for step in component(app, "steps")["steps"]] == ["answer = 1"]


@pytest.mark.parametrize(("params", "said"), [({"sample": "k/no_code"}, "Nothing to replay"),
                                             ({"sample": "k/time_limit", "test": "1"}, "not run")])  # fmt: skip
def test_where_nothing_can_be_replayed_it_says_why(params: dict[str, str], said: str) -> None:
    assert said in text(visit("completion", task="text/all-kinds", tab="why", **params))


def test_nothing_runs_where_visitors_may_not_run_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "may_run_code", lambda: False)
    app = visit("completion", **FAILING)
    assert "--allow-rerun" in text(app)
    assert not [e for e in app.get("bidi_component") if "-steps" in e.proto.id]


# --- Loops and branches -------------------------------------------------------------------------


def test_a_loop_is_folded_up_to_its_last_iteration() -> None:
    code = "total = 0\nfor n in range(9):\n    if n % 2:\n        total += n\nprint(total)\n"
    steps = steps_of(code)
    assert drawn(steps, control_flow.folded(code, steps)) == [1, (8, 2, 4), 2, 3, 2, 5]
    fold = control_flow.folded(code, steps)[1]
    assert isinstance(fold, Fold)
    assert [steps[n].line for n in fold.nodes if isinstance(n, int)] == [2, 3, 2, 3, 4] * 4


def test_loops_in_loops_and_in_calls_fold_alone() -> None:
    code = (
        "def row(n):\n    out = []\n    for k in range(n):\n        out.append(k)\n    return out\n"
        "for i in range(3):\n    for j in range(5):\n        x = i * j\n    row(4)\n"
    )
    steps = steps_of(code)
    nodes = control_flow.folded(code, steps)
    assert drawn(steps, nodes) == [1, (2, 6, 9), 6, (4, 7, 8), 7, 8, 7, 9, 2, (3, 3, 4), 3, 4, 3, 5, 6]


def test_an_endless_loop_without_a_condition_folds() -> None:
    code = "n = 0\nwhile True:\n    n += 1\n    if n > 50:\n        break\n"
    steps = steps_of(code)
    folds = [node for node in control_flow.folded(code, steps) if isinstance(node, Fold)]
    assert [(fold.times, fold.first, fold.last) for fold in folds] == [(50, 2, 5)]
    assert steps[-1].line == 5


def test_each_step_is_drawn_once() -> None:
    code = "def f(n):\n    for k in range(n):\n        f(k)\n    return [x for x in range(n)]\nf(6)\n"
    steps = steps_of(code)

    def flat(nodes: list[Node]) -> list[int]:
        return [i for n in nodes for i in (flat(n.nodes) if isinstance(n, Fold) else [n])]

    assert flat(control_flow.folded(code, steps)) == list(range(len(steps)))


def test_an_if_says_how_it_went() -> None:
    code = "def f(n):\n    if n > 1:\n        return f(n - 2)\n    while n:\n        n -= 1\nf(3)\nif 0:\n    pass\n"
    steps = steps_of(code)
    found = control_flow.branches(code, steps)
    said = [(steps[i].line, found[i]) for i in sorted(found)]
    assert said == [(2, "true"), (2, "false"), (4, "true"), (4, "false")]
    # A condition at which a generator ends was false.
    code = "def g(n):\n    while n:\n        yield n\n        n -= 1\nprint(*g(2))\n"
    steps = steps_of(code)
    found = control_flow.branches(code, steps)
    assert [found[i] for i in sorted(found)] == ["true", "true", "false"]


# --- The run's outcome and the replay's ---------------------------------------------------------


def case(verdict: str, **fields: object) -> CaseRecord:
    values = dict.fromkeys(CaseRecord.__struct_fields__) | {"test_index": 0, "verdict": verdict} | fields
    return msgspec.convert(values, CaseRecord)


def ended(how: str, value: str = "", error: str = "", **fields: object) -> Replay:
    end = End(how, 1, value, error)  # type: ignore[arg-type]
    return Replay(Trace([], end), Outcome(status=Status.ANSWERED), checkable=True, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "test", "unlike"),
    [
        (ended("ended", "3"), case("wrong_answer", actual="3"), False),
        (ended("ended", "4"), case("wrong_answer", actual="3"), True),
        (ended("ended", "{2, 1}"), case("wrong_answer", actual="{1, 2}"), False),
        (ended("ended", "<Node>"), case("wrong_answer", actual="<object: Node>"), False),
        (ended("raised", "x", "ValueError"), case("wrong_answer", actual="3"), True),
        (ended("raised", "x", "ValueError"), case("runtime_error", error_type="ValueError"), False),
        (ended("raised", "x", "KeyError"), case("runtime_error", error_type="ValueError"), True),
        (ended("ended", "3"), case("runtime_error", error_type="ValueError"), True),
        (ended("stopped"), case("time_limit"), False),
        (ended("ended", "3"), case("time_limit"), True),
        (ended("stopped"), case("wrong_answer", actual="3"), False),
        (ended("ended", right=True), case("wrong_answer", actual=""), True),
    ],
)
def test_another_end_than_the_runs_is_noticed(made: Replay, test: CaseRecord, *, unlike: bool) -> None:
    assert bool(why.unlike_the_run(made, test)) == unlike


def test_another_output_is_noticed() -> None:
    made = ended("ended", right=False)
    assert made.outcome is not None
    made.outcome.stdout = Stream(b"5\n", 2)
    assert why.unlike_the_run(made, case("wrong_answer", actual="6\n"))
    assert not why.unlike_the_run(made, case("wrong_answer", actual="5\n"))
