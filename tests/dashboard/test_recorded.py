"""The verdict that a rollout came with, beside ours: the Audit page, the filter, the table, a completion, exports."""

from html import unescape

import msgspec
import pytest

from dashboard import workspace
from dashboard.queries import audits, query
from dashboard.queries.options import options
from dashboard.state import Filter
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Disagreement, Verdict
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import Row, Show, Written
from tests.dashboard.test_pages import cards, component, text, visit

W, P, T = Verdict.WRONG_ANSWER, Verdict.PASSED, Verdict.TIME_LIMIT
PAIRS = [
    (P, P), (P, P), (W, W), (T, W), (P, W), (P, T), (W, P), (None, P), (None, W), (P, Verdict.SANDBOX_ERROR),
    (Verdict.UNKNOWN, P),
]  # fmt: skip
"""Recorded verdict and ours."""


def recorded(place: int, came_with: Verdict | None, own: Verdict, **fields: object) -> Row:
    rollout, grade = rows.row("t", f"s{place}", reward=float(own is P) if own.graded else None, verdict=own, **fields)
    maker = "judge A" if came_with is P else "judge B"
    said = {"recorded_word": "TLE" if came_with is T else None, "recorded_by": maker if came_with else None}
    return msgspec.structs.replace(rollout, recorded_verdict=came_with, **said), grade


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    found = [recorded(place, *pair) for place, pair in enumerate(PAIRS)]
    return workspace.open_run(Entry("run", rows.write(tmp_path_factory.mktemp("recorded") / "run", found)))


@pytest.fixture
def pairs(stored: OpenRun, show: Show) -> OpenRun:
    show(stored.path)
    return stored


def test_every_number_is_the_number_of_rollouts_behind_it(pairs: OpenRun) -> None:
    app = visit("audit")
    assert {name: (card["value"], card["href"]) for name, card in cards(app, "recorded_cards").items()} == {
        "agree": ("4 of 7", "rollouts?run=run&recorded=agrees"),
        "only recorded passed": ("2", "rollouts?run=run&recorded=differs&verdict=wrong_answer%2Ctime_limit"),
        "only ours passed": ("1", "rollouts?run=run&recorded=differs&verdict=passed"),
    }  # fmt: skip
    failing = Filter(recorded="differs", verdicts=("wrong_answer", "time_limit"))
    assert query.count(pairs, Filter(recorded="agrees")) == 4
    assert query.count(pairs, Filter(recorded="differs")) == 3
    assert query.count(pairs, failing) == 2
    assert query.count(pairs, Filter(recorded="differs", verdicts=("passed",))) == 1
    assert "2 rollouts with a recorded verdict not graded, there or here." in text(app)
    assert "2 rollouts without a recorded verdict." in text(app)
    drawn = component(app, "recorded_table")
    assert drawn["head"] == ["P", "W", "T", "S"]
    assert {row["label"]: ([cell["text"] for cell in row["cells"]], row["note"]) for row in drawn["rows"]} == {
        "passed": (["2", "1", "1", "1", "5"], "judge A"),
        "wrong_answer": (["1", "1", "·", "·", "2"], "judge B"),
        "time_limit": (["·", "1", "·", "·", "1"], "judge B"),
        "unknown": (["1", "·", "·", "·", "1"], "judge B"),
    }
    assert drawn["rows"][0]["cells"][1]["href"] == "rollouts?run=run&recorded=passed&verdict=wrong_answer"
    for (came_with, own), count in audits.recorded(pairs, Filter()).by_verdict.items():
        assert query.count(pairs, Filter(recorded=came_with, verdicts=(own,))) == count


@pytest.mark.parametrize(
    ("given", "name", "value", "note", "word"),
    [
        ((None, None, None), "verdict differs", "1 of 3", "from the recorded; 0 passed", "recorded"),
        ((1.0, None, 0.5), "reward differs", "1 of 2", "given: 1 higher, 0 lower", "given"),
    ],
)
def test_a_card_of_the_overview_counts_grades_that_differ_from_ours(
    written: Written, given: tuple[float | None, ...], name: str, value: str, note: str, word: str
) -> None:
    found = []
    for n, (own, reward) in enumerate(zip((1.0, 1.0, 0.0), given, strict=True)):
        rollout, grade = rows.row("t", f"t#{n}", reward=own)
        rollout.expected_pass, rollout.given_reward = n == 0, reward  # the file says only whether it passed
        found.append((rollout, grade))
    run = written(found)
    card = cards(visit("overview"))[name]
    assert (card["value"], card["note"], card["href"]) == (value, note, f"rollouts?run=run&{word}=differs")
    assert query.count(run, Filter(**{word: "differs"})) == 1
    assert cards(visit("audit"), "recorded_cards")["agree"]["value"] == "2 of 3"


def test_a_disagreement_counts_as_not_passed_as_it_does_in_rates(written: Written) -> None:
    run = written([recorded(0, P, Verdict.UNKNOWN, disagreement=Disagreement(apart=W, plain=P))])
    found = audits.recorded(run, Filter())
    assert (found.only_recorded, found.both, found.ungraded) == (1, 1, 0)
    assert query.count(run, Filter(recorded="differs", verdicts=("unknown",))) == 1


def test_the_table_follows_the_filter(pairs: OpenRun) -> None:
    found = audits.recorded(pairs, Filter(verdicts=("wrong_answer",)))
    assert (found.agree, found.only_recorded, found.only_own, found.without) == (2, 1, 0, 1)
    found = audits.recorded(pairs, Filter(recorded="differs", verdicts=("passed",)))
    assert (found.agree, found.only_recorded, found.only_own) == (0, 0, 1)


def test_the_filter_offers_the_recorded_verdicts_with_their_rollouts(pairs: OpenRun) -> None:
    assert dict(options(pairs, Filter(recorded="differs"))["recorded"].rows) == {
        "passed": 5, "agrees": 4, "differs": 3, "wrong_answer": 2, "time_limit": 1, "unknown": 1,
    }  # fmt: skip
    [offered] = [box for box in visit("rollouts", recorded="agrees").selectbox if box.label == "Recorded verdict"]
    assert offered.options[:4] == ["agrees (4)", "differs (3)", "passed (5)", "wrong_answer (2)"]
    assert offered.value == "agrees"
    gone = visit("rollouts", recorded="rejected")
    assert [b.label for b in gone.button if (b.key or "").startswith("undo_")] == [
        "Remove recorded verdict\\: 11 rollouts"
    ]


@pytest.mark.usefixtures("pairs")
def test_a_recorded_verdict_is_outlined_in_the_table_beside_its_word() -> None:
    drawn = component(visit("rollouts", view="table"), "rollout_table")
    names = [column["name"] for column in drawn["columns"]]
    assert names[names.index("reward") : names.index("tests")] == ["reward", "recorded_verdict", "recorded_word"]
    at = names.index("recorded_verdict")
    cells = [row["cells"][at : at + 2] for row in drawn["rows"]]
    assert cells[3] == [{"letter": "T", "text": "", "recorded": True}, "TLE"]
    assert cells[7] == [None, None]
    assert drawn["rows"][3]["cells"][0] == {"letter": "W", "text": ""}


def test_rollouts_that_came_without_a_verdict_say_so(written: Written) -> None:
    written([rows.row("t", "s", reward=1.0)])
    assert "No rollout in the filter came with a verdict" in text(visit("audit"))
    app = visit("rollouts", view="table")
    assert "recorded_verdict" not in [column["name"] for column in component(app, "rollout_table")["columns"]]
    assert not [box for box in app.selectbox if box.label == "Recorded verdict"]


@pytest.mark.usefixtures("opened")
def test_a_completion_shows_the_recorded_verdict_beside_ours() -> None:
    shown = text(visit("completion", task="math/add", sample="add#3"))
    assert '<span class="rs-chip rs-v-time_limit recorded" title="time_limit: it was' in shown
    assert f"“said {sample_run.HOSTILE[:75]}…”" in unescape(shown)
    assert f"by {sample_run.HOSTILE}" in unescape(shown)
    assert "<span>recorded</span>" not in text(visit("completion", task="math/add", sample="add#2"))
