"""The Overview: a row per model, the groups without signal, and cards that lead to what they count."""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from dashboard import workspace
from dashboard.queries import aggregates, options, query
from dashboard.state import SIGNALS, Filter, parse
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Verdict
from tests.dashboard import rows
from tests.dashboard.rows import Row, Show, Written, row
from tests.dashboard.test_pages import cards, component, text, visit

MIXED = (Verdict.PASSED, Verdict.WRONG_ANSWER)


def rollouts() -> list[Row]:
    """Two models, three tasks: one that all fail, one that all pass, one in between; one rollout has no grade."""
    found = [
        row(task, f"{task}/{model}#{n}", reward=float(task == "easy" or (task == "half" and n < limit)), model=model)
        for task in ("hard", "easy", "half")
        for model, limit in (("small", 1), ("large", 3))
        for n in range(4)
    ]
    return [*found, row("hard", "odd", reward=None, model="large")]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rows.write(tmp_path_factory.mktemp("models") / "run", rollouts())


@pytest.fixture
def run(stored: Path, show: Show) -> OpenRun:
    show(stored)
    return workspace.open_run(Entry("run", stored))


def leads_to(href: str) -> tuple[str, Filter]:
    """The page of an address, and its filter."""
    address = urlsplit(href)
    return address.path.strip("./") or "overview", parse(dict(parse_qsl(address.query))).filter


def test_every_number_opens_what_it_counts(run: OpenRun) -> None:
    app = visit("overview")
    table = component(app, "model_table")["rows"]
    assert [(line["model"], line["n"], line["rate"]) for line in table] == [
        ("large", "13", "0.583"), ("small", "12", "0.417"),
    ]  # fmt: skip
    assert leads_to(table[0]["hrefs"]["model"]) == ("overview", Filter(model="large"))
    for line in table:
        low, value, high = line["interval"]
        assert 0 <= low < value < high <= 1
        page, filter_ = leads_to(line["hrefs"]["n"])
        assert (page, query.count(run, filter_)) == ("rollouts", int(line["n"]))
        assert sum(part["share"] for part in line["parts"]) == 1
        for part in line["parts"]:
            _, only = leads_to(line["hrefs"][part["cell"]])
            assert part["title"].startswith(f"{part['cell']}: {query.count(run, only)} (")
    pages = {name.split(",")[0]: leads_to(card["href"])[0] for name, card in cards(app).items() if card["href"]}
    assert pages == {
        "rollouts": "rollouts", "tasks": "tasks", "pass@1": "rollouts", "mean reward": "rewards",
        "no signal": "rollouts", "unknown": "rollouts",
    }  # fmt: skip
    bars = component(app, "verdict_bars")["rows"]
    assert [(bar["label"], bar["share"], bar["note"]) for bar in bars] == [
        ("passed", 12 / 25, "48.0%"), ("wrong_answer", 12 / 25, "48.0%"), ("unknown", 1 / 25, "4.0%"),
    ]  # fmt: skip
    (label,) = [box.label.replace("\\", "") for box in app.expander if "Graded" in box.label]
    assert label.startswith("Graded: tests · each task's checker · 10 s · 1024 MiB · strict · 20")
    assert "<span>isolation</span>" in text(app)


@pytest.mark.usefixtures("run")
def test_the_chosen_model_gives_all_models_back() -> None:
    app = visit("overview", model="large")
    large, small = component(app, "model_table")["rows"]
    assert (large["selected"], small["selected"]) == (True, False)
    assert leads_to(large["hrefs"]["model"]) == ("overview", Filter())
    assert leads_to(small["hrefs"]["model"]) == ("overview", Filter(model="small"))
    assert cards(app)["rollouts"]["value"] == "13"


def test_a_run_of_one_model_has_its_row_and_one_without_a_name_no_links(written: Written) -> None:
    written([row("t", "s", reward=1.0)])
    (line,) = component(visit("overview"), "model_table")["rows"]
    assert (line["model"], line["n"], line["hrefs"]) == ("no model named", "1", {})


@pytest.mark.usefixtures("run")
def test_rates_are_left_out_where_the_filter_selects_by_outcome() -> None:
    lines = component(visit("overview", verdict="passed"), "model_table")["rows"]
    assert [(line["rate"], line["interval"]) for line in lines] == [("–", None), ("–", None)]


def test_groups_without_signal_are_listed_by_how_they_ended(written: Written) -> None:
    run = written([*rollouts(), *(row("part", f"part#{n}", reward=0.5, verdict=v) for n, v in enumerate(MIXED))])
    signal = aggregates.signal(run, Filter())
    assert (signal.groups, signal.flat, signal.all_fail, signal.all_pass) == (7, 5, 2, 2)
    app = visit("overview")
    kinds = component(app, "signal")["kinds"]
    assert [(kind["title"], [item["label"] for item in kind["items"]]) for kind in kinds] == [
        ("all fail 2", ["hard · small", "hard · large"]), ("all pass 2", ["easy · small", "easy · large"]),
        ("equal rewards 1", ["part"]),
    ]  # fmt: skip
    assert kinds[0]["items"][0]["href"] == "rollouts?run=run&task=hard&model=small"
    card = cards(app)["no signal"]
    assert (card["value"], card["href"]) == ("5 of 7", "rollouts?run=run&signal=no")


def test_a_group_has_the_rollouts_of_one_step_and_can_be_filtered(written: Written) -> None:
    rewards = [(1, 0.0), (1, 0.0), (2, 0.0), (2, 1.0), (3, 1.0), (3, 1.0)]
    run = written([row("t", f"t#{n}", reward=reward, step=step) for n, (step, reward) in enumerate(rewards)])
    signal = aggregates.signal(run, Filter())
    assert (signal.groups, signal.flat, signal.all_fail, signal.all_pass) == (3, 2, 1, 1)
    found = {option.name: option.rollouts for option in options.options(run, Filter())["signal"].rows}
    assert found == {"yes": 2, "no": 4, "all_fail": 2, "all_pass": 2}
    assert found == {word: query.count(run, Filter(signal=word)) for word in SIGNALS}
    assert query.rows_inside(run, Filter(signal="no")) == [0, 1, 4, 5]  # which the export has
    items = component(visit("overview"), "signal")["kinds"][0]["items"]
    assert items == [{"label": "t · step 1", "href": "rollouts?run=run&task=t&step_min=1&step_max=1"}]
