from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dashboard import state
from dashboard.state import Filter, View, parse

_text = some.text(max_size=20)
_whole = some.none() | some.integers(0, 10**6)
_KINDS: dict[object, some.SearchStrategy[object]] = {
    str: _text,
    float | None: some.none() | some.floats(-1e6, 1e6),
    int | None: _whole,
    int: some.integers(1, 10**6),
}


def _structs(struct: type, **own: some.SearchStrategy[object]) -> some.SearchStrategy[object]:
    """Any values of a struct's fields; `own` are those that may not have any value of their type."""
    kinds = {name: _KINDS.get(kind, some.nothing()) for name, kind in get_type_hints(struct).items()}
    return some.builds(struct, **(kinds | own))


filters = _structs(
    Filter,
    verdicts=some.lists(some.sampled_from(state.VERDICT_WORDS), unique=True).map(tuple),
    verified=some.sampled_from(["", "yes", "no"]) | _text.map("no: {}".format),
    given=some.sampled_from(["", *state.AGREES]),
    alike=some.sampled_from(["", state.FIRST_ALIKE]),
    signal=some.sampled_from(["", *state.SIGNALS]),
    recorded=some.sampled_from(["", *state.RECORDED_WORDS]),
)
views = _structs(View, filter=filters)


@given(views)
def test_an_address_shows_the_same_view_again(view: View) -> None:
    assert parse(view.params()) == view


@given(some.dictionaries(some.sampled_from([*list(View(run="x").params()), "page", "test", "r_min", "verdict"]), _text))
def test_an_address_typed_by_hand_is_never_an_error(params: dict[str, str]) -> None:
    assert parse(params).page >= 1


@pytest.mark.parametrize(
    ("params", "filter_"),
    [
        ({"verdict": "passed,nonsense,failed,passed"}, Filter(verdicts=("passed", "failed"))),
        ({"verified": "perhaps"}, Filter()),
        ({"verified": "no: it patches `open`"}, Filter(verified="no: it patches `open`")),
        ({"r_min": "inf", "r_max": "1e999", "test": "x"}, Filter()),
    ],
)
def test_what_means_nothing_does_not_restrict(params: dict[str, str], filter_: Filter) -> None:
    assert parse(params).filter == filter_


def test_failed_stands_for_the_verdicts_that_are_the_completions_fault() -> None:
    words = Filter(verdicts=("failed",)).words()
    assert "wrong_answer" in words
    assert not words & {"passed", "unknown", "sandbox_error", "not_run", "failed"}


def test_a_view_has_no_more_than_it_needs() -> None:
    assert View().params() == {}
    view = View(run="r", task="t", sample="s", test=3, page=4, filter=Filter(q="x"))
    assert view.place() == View(run="r", filter=Filter(q="x")), "a link to another page drops the place"
    assert View(filter=Filter(q="x")).but(verdicts=("passed",), page=2) == View(
        page=2, filter=Filter(q="x", verdicts=("passed",))
    )


def test_only_clauses_on_outcomes_make_rates_meaningless() -> None:
    assert not Filter(q="x", model="m").by_outcome
    picking = (Filter(verdicts=("passed",)), Filter(err="E"), Filter(verified="no"), Filter(r_min=0), Filter(r_max=1))
    assert all(f.by_outcome for f in picking)


def test_up_restores_what_the_list_showed() -> None:
    there = View(
        run="r", filter=Filter(q="a"), sort="slow", page=3, view="table", cols="model", fields="a,b", zoom=12, at="t|s",
        by="err",
    )  # fmt: skip
    below = View(run="r", filter=Filter(q="b"), task="t", sample="s", test=2, view="raw", tab="why", up=there.below())
    assert below.above() == ("rollouts", there.but(q="b"))
    assert parse(below.params()).above() == ("rollouts", there.but(q="b"))


@pytest.mark.parametrize(
    ("page", "there"),
    [
        ("compare", View(run="r", a="r|m", b="r|n", task="t", filter=Filter(q="a"))),
        ("audit", View(run="r", graders="value,floats", view="value", page=2)),
        ("sql", View(run="r", query="SELECT 'a?b&c=d' FROM rollouts")),
    ],
)
def test_up_from_a_page_about_more_than_the_filter_shows_it_as_it_was(page: str, there: View) -> None:
    below = View(run="other", filter=Filter(model="m"), task="t", sample="s", up=there.below(page))
    assert parse(below.params()).above() == (page, there)


def test_up_to_a_task_keeps_its_test_case_and_follows_the_filter() -> None:
    there = View(run="r", task="t", test=3, sort="natural")
    below = View(run="r", filter=Filter(q="b"), task="t", sample="s", up=there.below("tasks"))
    assert below.above() == ("tasks", there.but(q="b"))


@pytest.mark.parametrize("up", ["nope?task=t", "../x?task=t", "?task=t"])
def test_up_to_a_page_that_is_none_leads_to_the_rollouts(up: str) -> None:
    assert View(run="r", up=up).above() == ("rollouts", View(run="r", task="t"))
