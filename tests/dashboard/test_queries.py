from collections import Counter

import pytest

from dashboard.queries import aggregates, dataset, distributions, listing, orders, query, records, search
from dashboard.queries.orders import COLUMNS
from dashboard.state import Filter
from dashboard.workspace import OpenRun
from evaluator.model import Verdict
from evaluator.runs.expressions import CLUSTER
from tests.dashboard import check_run, sample_run
from tests.dashboard.rows import Written, row
from tests.dashboard.test_pages import mostly_slow

GRADES = sample_run.grades()
FAILED = Filter(verdicts=("failed",))
FILTERS = [
    Filter(), FAILED, Filter(verdicts=("passed",)), Filter(model="small"), Filter(q="ADD#1"), Filter(q="attribute"),
    Filter(r_min=1.0), Filter(r_max=0.0), Filter(given="same"), Filter(signal="no"), Filter(find="total.plus"),
    Filter(find="/total\\.\\w+\\(/"), Filter(len_min=10, wall_max=0.05),
    Filter(err="AttributeError: '…' object has no attribute '…'"), Filter(err="time_limit", verdicts=("failed",)),
    Filter(flag="missing_package"), Filter(flag="missing_package: pandas", q="add#1"),
    Filter(verified="yes"), Filter(verified="no"), Filter(verified=f"no: {sample_run.REASON}", model="small"),
    Filter(alike="first"), Filter(alike="first", model="small", find="total.plus"),
    Filter(q=sample_run.HOSTILE),
]  # fmt: skip
SORTS = [*orders.SORTS, *COLUMNS, *(f"-{name}" for name in COLUMNS), "no such order", "-", "1; DROP TABLE rollouts"]


def search_whole(run: OpenRun, filter_: Filter) -> None:
    """The search of the filter, if it has one, to its end."""
    if filter_.find:
        search.scan(run, filter_.find).wait()


def test_counts_agree_with_the_grades(run: OpenRun) -> None:
    found = {c.verdict: c.rollouts for c in aggregates.verdict_counts(run, Filter())}
    assert found == Counter(g.verdict.value for g in GRADES)
    totals = aggregates.totals(run, Filter())
    rewards = [g.reward for g in GRADES if g.reward is not None]
    assert totals.rollouts == len(GRADES)
    assert totals.tasks == 3
    assert totals.mean_reward == pytest.approx(sum(rewards) / len(rewards))
    assert (totals.unknown, totals.sandbox_error, totals.unverified) == (1, 1, 1)
    assert (totals.samples_min, totals.samples_max) == (1, 8)


FEW = (*orders.SORTS, "verdict", "-reward", "no such order", "1; DROP TABLE rollouts")
"""Those of `make test`: the orders that are not a column's, and of columns a text and a number."""


@pytest.mark.parametrize("filter_", FILTERS, ids=repr)
def test_a_filter_lists_and_exports_what_it_counts(run: OpenRun, filter_: Filter) -> None:
    search_whole(run, filter_)
    listed = {(task, sample) for task, sample, _ in listing.table(run, filter_, "", 1, ["verdict"])}
    assert len(listed) == query.count(run, filter_)
    named = dict(run.rows('SELECT "row", (task_id, sample_id) FROM rollouts'))
    assert {named[each] for each in query.rows_inside(run, filter_)} == listed


@pytest.mark.parametrize("sort", mostly_slow(SORTS, *FEW))
def test_next_walks_the_filter_in_the_order_of_the_table(run: OpenRun, sort: str) -> None:
    filter_ = FAILED
    listed = [(task, sample) for task, sample, _ in listing.table(run, filter_, sort, 1, ["verdict"])]
    assert len(listed) == query.count(run, filter_)
    at = orders.first(run, filter_, sort)
    walked: list[tuple[str, str]] = []
    while at is not None:
        walked.append(at)
        record = records.rollout(run, *at)
        assert record is not None
        place = orders.place(run, filter_, sort, record.row)
        assert (place.inside, place.position, place.total) == (True, len(walked), len(listed))
        assert place.previous == (walked[-2] if len(walked) > 1 else None)
        at = place.following
    assert walked == listed


def test_a_rollout_outside_the_filter_still_knows_its_neighbours(run: OpenRun) -> None:
    place = orders.place(run, FAILED, "", 0)
    assert (place.inside, place.following) == (False, ("math/add", "add#1"))


@pytest.mark.parametrize("text", ["' OR true --", "'; DROP TABLE rollouts; --", "$q", "%", "\\", "\0"])
def test_text_from_the_address_is_only_ever_a_value(run: OpenRun, text: str) -> None:
    fields = {"q": text, "model": text, "err": text, "flag": text, "verified": f"no: {text}", "tag": text}
    filters = [Filter(**{name: value}) for name, value in fields.items()]
    for filter_ in (*filters, Filter(flag=f"x: {text}")):
        assert query.count(run, filter_) == 0
        assert query.count(run, Filter()) == len(GRADES)


def test_failures_that_differ_in_names_and_numbers_are_one_cluster(run: OpenRun) -> None:
    found = {c.name: c for c in aggregates.clusters(run, Filter()).rows}
    assert found["AttributeError: '…' object has no attribute '…'"].rollouts == 1
    assert found["wrong_answer: extra lines"].rollouts == 1
    assert sum(c.rollouts for c in found.values()) == sum(g.verdict != "passed" for g in GRADES)
    for name, cluster in found.items():
        assert query.count(run, Filter(err=name)) == cluster.rollouts


def test_code_that_parses_and_does_not_load_says_why(written: Written) -> None:
    failures = {
        ("AssertionError", ""): "failed while loading: its own assert",
        ("ModuleNotFoundError", "No module named 'pandas'"): "failed while loading: package pandas is missing",
        ("KeyError", "'a'"): "failed while loading: KeyError: '…'",
        ("SyntaxError", "'(' was never closed"): "SyntaxError: '…' was never closed",
        ("NameError", "the code defines no 'f'"): "NameError: the code defines no '…'",
    }
    run = written(
        [
            row("t", str(number), reward=0.0, verdict=Verdict.COMPILE_ERROR, error_type=type_, error_message=message,
                error_line=43)
            for number, (type_, message) in enumerate(failures)
        ]
    )  # fmt: skip
    found = [records.rollout(run, "t", str(number)) for number in range(len(failures))]
    assert [each and each.err for each in found] == list(failures.values())
    assert [each and each.loading for each in found] == [
        f"{name}, line 43" if name.startswith("failed") else "" for name in failures.values()
    ]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("it can't be run: No module named 'requests'", "TypeError: it can't be run: No module named '…'"),
        ("f('a', \"b's\") of 12", "TypeError: f('…', '…') of N"),
    ],
)
def test_an_apostrophe_within_a_word_opens_no_quotation(run: OpenRun, message: str, name: str) -> None:
    failure = """(SELECT 'runtime_error' AS verdict, 'TypeError' AS error_type, $message AS error_message,
                         NULL AS difference_kind)"""
    assert run.rows(f"SELECT {CLUSTER} FROM {failure}", {"message": message}) == [(name,)]


def test_flags_are_counted_by_rollout_and_each_count_is_what_its_filter_finds(run: OpenRun) -> None:
    flags = aggregates.flag_counts(run, Filter()).rows
    assert [(c.name, c.rollouts, c.tasks) for c in flags] == [("missing_package", 2, 1), ("ctypes", 1, 1)]
    packages = aggregates.missing_packages(run, Filter()).rows
    assert [(c.name, c.rollouts, c.tasks) for c in packages] == [("missing_package: pandas", 2, 1)]
    for count in (*flags, *packages):
        assert query.count(run, Filter(flag=count.name)) == count.rollouts
    assert query.count(run, Filter(flag="missing_package: torch")) == 0
    assert aggregates.flag_counts(run, Filter(verdicts=("passed",))) == ([], 0)
    shown = {sample: words for _, sample, words in listing.table(run, Filter(q="add#"), "", 1, ["flags"])}
    assert shown == {"add#0": "", "add#1": "missing_package", "add#2": "ctypes, missing_package", "add#3": ""}


def test_what_is_not_verified_is_counted_by_its_reason_and_each_count_is_what_its_filter_finds(
    run: OpenRun, checks: OpenRun
) -> None:
    found = aggregates.unverified_reasons(checks, Filter()).rows
    assert [(c.name, c.rollouts, c.tasks) for c in found] == [
        (f"no: {check_run.PATCHES}", 3, 1),
        (f"no: {check_run.COMPARES}", 1, 1),
    ]
    for count in found:
        assert query.count(checks, Filter(verified=count.name)) == count.rollouts
    assert query.count(checks, Filter(verified="no")) == aggregates.unverified_count(checks, Filter()) == 4
    assert query.count(checks, Filter(verified="yes")) == 3
    assert aggregates.unverified_reasons(checks, Filter(verified="yes")) == ([], 0)
    assert [(c.name, c.rollouts) for c in aggregates.unverified_reasons(run, Filter()).rows] == [
        (f"no: {sample_run.REASON}", 1)
    ]


def test_the_grid_marks_the_samples_that_are_not_verified(checks: OpenRun) -> None:
    rows = {row.task_id: row for row in listing.grid(checks, Filter(), "", 1)}
    assert (rows["checks/top"].letters, rows["checks/top"].unverified) == ("PWP", "001")
    assert (rows["checks/stack"].letters, rows["checks/stack"].unverified) == ("PEWP", "1110")
    by_case = listing.case_grid(checks, Filter(), "checks/stack").rows
    assert [row.verified for row in by_case] == [False, False, False, True]
    reasons = listing.table(checks, Filter(q="top#"), "", 1, ["unverified_reason"])
    assert [reason for _, _, reason in reasons] == [None, None, check_run.COMPARES]


def test_the_first_failure_is_the_first_in_the_file_with_its_test_case(run: OpenRun) -> None:
    assert aggregates.first_failure(run, Filter()) == ("math/add", "add#1", 1)
    assert aggregates.first_failure(run, Filter(verdicts=("passed",))) is None
    assert aggregates.first_failure(run, Filter(verdicts=("unknown", "sandbox_error"))) is None


def test_the_grid_has_a_letter_a_sample_and_marks_what_the_filter_leaves_out(run: OpenRun) -> None:
    rows = {row.task_id: row for row in listing.grid(run, Filter(), "", 1)}
    assert rows["math/add"].letters == "PEEP"
    assert rows["math/add"].ids == ["add#0", "add#1", "add#2", "add#3"]
    assert rows["math/add"].models == ["small", "large", "small", "large"]
    assert rows["text/all-kinds"].letters == "CTMORSN?"
    assert (rows["math/add"].passed, rows["math/add"].graded) == (2, 4)
    assert rows["text/all-kinds"].graded == 6
    (only,) = listing.grid(run, Filter(q="add#1"), "", 1)
    assert (only.letters, only.mask) == ("PEEP", "0100")
    by_rate = [row.task_id for row in listing.grid(run, Filter(), "rate_desc", 1)]
    assert by_rate[0] == "math/add"
    assert next(row.task_id for row in listing.grid(run, Filter(), "spread", 1)) == "math/add"
    assert len(listing.grid(run, Filter(), "no such order", 1)) == 3


def test_one_task_by_test_case(run: OpenRun) -> None:
    rows = listing.case_grid(run, Filter(verdicts=("passed",)), "math/add").rows
    assert [(row.sample_id, row.inside, row.letters) for row in rows] == [
        ("add#0", True, "PPP"), ("add#3", True, "PPP"), ("add#1", False, "PEP"), ("add#2", False, "PPE"),
    ]  # fmt: skip
    counts = [(c.test_index, c.passed, c.ran) for c in dataset.case_counts(run, "math/add")]
    assert counts == [(0, 4, 4), (1, 3, 4), (2, 3, 4)]


def test_reward_bars_add_up_and_open_on_their_own_rollouts(run: OpenRun) -> None:
    values = distributions.reward_values(run, Filter())
    assert distributions.reward_width(run, Filter()) == 0
    assert {reward for reward, _, _ in values} == {0.0, 1.0}
    for reward in (0.0, 1.0):
        bar = sum(count for value, _, count in values if value == reward)
        assert query.count(run, Filter(r_min=reward, r_max=reward)) == bar


def test_unknown_ids_have_a_nearest_match(run: OpenRun) -> None:
    assert records.nearest(run, "math/ad") == "math/add"
    assert records.nearest(run, "math/add", "add#10") in {"add#0", "add#1"}
