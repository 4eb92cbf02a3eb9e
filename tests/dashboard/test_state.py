from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from dashboard import state
from dashboard.state import Filter, View, parse

_text = some.text(max_size=20)
_number = some.none() | some.floats(-1e6, 1e6)
_whole = some.none() | some.integers(0, 10**6)
filters = some.builds(
    Filter,
    verdicts=some.lists(some.sampled_from(state.VERDICT_WORDS), unique=True).map(tuple),
    model=_text,
    err=_text,
    flag=_text,
    verified=some.sampled_from(["", "yes", "no"]) | _text.map("no: {}".format),
    q=_text,
    r_min=_number,
    r_max=_number,
    wall_min=_number,
    wall_max=_number,
    step_min=_whole,
    step_max=_whole,
    len_min=_whole,
    len_max=_whole,
    tag=_text,
    find=_text,
    given=some.sampled_from(["", *state.AGREES]),
    recorded=some.sampled_from(["", *state.RECORDED_WORDS]),
)
views = some.builds(
    View,
    run=_text,
    task=_text,
    sample=_text,
    test=some.none() | some.integers(0, 10**6),
    filter=filters,
    sort=_text,
    page=some.integers(1, 10**6),
    view=_text,
    tab=_text,
    cols=_text,
    by=_text,
    fields=_text,
    at=_text,
    a=_text,
    b=_text,
    graders=_text,
    query=_text,
    zoom=_whole,
)


@given(views)
def test_an_address_shows_the_same_view_again(view: View) -> None:
    assert parse(view.params()) == view


@given(some.dictionaries(some.sampled_from([*list(View(run="x").params()), "page", "test", "r_min", "verdict"]), _text))
def test_an_address_typed_by_hand_is_never_an_error(params: dict[str, str]) -> None:
    assert parse(params).page >= 1


def test_the_default_view_needs_no_query() -> None:
    assert View().params() == {}


def test_words_that_are_no_verdict_are_left_out() -> None:
    assert parse({"verdict": "passed,nonsense,failed,passed"}).filter.verdicts == ("passed", "failed")


def test_a_word_that_is_neither_verified_nor_not_does_not_restrict() -> None:
    assert not parse({"verified": "perhaps"}).filter
    assert parse({"verified": "no: it patches `open`"}).filter == Filter(verified="no: it patches `open`")


def test_failed_stands_for_the_verdicts_that_are_the_completions_fault() -> None:
    words = Filter(verdicts=("failed",)).words()
    assert "wrong_answer" in words
    assert not words & {"passed", "unknown", "sandbox_error", "not_run", "failed"}


def test_infinite_and_unreadable_numbers_do_not_restrict() -> None:
    assert parse({"r_min": "inf", "r_max": "1e999", "test": "x"}).filter == Filter()


def test_a_link_to_another_page_keeps_run_and_filter_and_drops_the_place() -> None:
    view = View(run="r", task="t", sample="s", test=3, page=4, filter=Filter(q="x"))
    assert view.place() == View(run="r", filter=Filter(q="x"))


def test_a_field_of_the_filter_is_replaced_in_place() -> None:
    assert View(filter=Filter(q="x")).but(verdicts=("passed",), page=2) == View(
        page=2, filter=Filter(q="x", verdicts=("passed",))
    )


def test_only_clauses_on_outcomes_make_rates_meaningless() -> None:
    assert not Filter(q="x", model="m").by_outcome
    picking = (Filter(verdicts=("passed",)), Filter(err="E"), Filter(verified="no"), Filter(r_min=0), Filter(r_max=1))
    assert all(f.by_outcome for f in picking)
