"""Search in completions and code: what is found, that it is shared, stopped and resumed, and what the pages say."""

import io
import itertools
import re
import threading
from collections.abc import Iterator

import pytest

from dashboard import workspace
from dashboard.queries import aggregates, listing, query, search
from dashboard.state import Filter
from dashboard.workspace import Entry, OpenRun
from evaluator.model import Kind
from evaluator.runs.export import export
from tests.dashboard import rows, sample_run
from tests.dashboard.rows import row
from tests.dashboard.test_pages import HANG_S, click, component, mostly_slow, searched, text, visit

pytestmark = pytest.mark.usefixtures("opened")

MANY, STEP = 3_000, 1_000
"""Rollouts, and those of one step of a search."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> OpenRun:
    """A run of many rollouts; every 250th has a rare word, the first of them in the completion alone."""
    found = []
    for place in range(MANY):
        code = f"def f():\n    return {place}\n" + (f"# rare_{place}\n" if place % 250 == 0 and place else "")
        completion = f"{'rare_0' if place == 0 else ''}\n```\n{code}```"
        found.append(row(f"t{place // 8}", f"s{place}", reward=1.0, completion=completion, code=code, kind=Kind.CHAT))
    path = rows.write(tmp_path_factory.mktemp("runs") / "many", found)
    return workspace.open_run(Entry("many", path))


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test starts its searches itself."""
    monkeypatch.setattr(search, "_STEP", STEP)
    yield
    while search._scans:
        search._scans.popitem()[1].discard()


@pytest.mark.parametrize(
    ("find", "lines"),
    [
        ("total.plus", [("add#1", True, 4, "        total = ", "total.plus", "(1)")]),
        ("/total\\.(\\w+)\\(/", [("add#1", True, 4, "        total = ", "total.plus(", "1)")]),
        ("/^    ret\\w+ total$/", [("add#1", True, 5, "", "    return total", "")]),
        ("TOTAL.plus", []),
        ("/(?i)TOTAL.plus/", [("add#1", True, 4, "        total = ", "total.plus", "(1)")]),
        ("/b\\):\n.*a \\+/", [("add#0", True, 1, "def add(a, ", "b):", "")]),
        ("%", []),
        ("/", None),
    ],
)
def test_the_first_match_is_found_with_its_line(
    run: OpenRun, find: str, lines: list[tuple[str, bool, int, str, str, str]] | None
) -> None:
    search.scan(run, find).wait()
    found = listing.hits(run, Filter(find=find), "", 1)
    if lines is None:  # one slash is a text
        assert {hit.hit for hit in found} == {find}
        assert not all(hit.in_code for hit in found)
    else:
        assert [(hit.sample_id, *hit[4:]) for hit in found] == lines


def test_a_match_outside_the_code_counts_lines_of_the_completion(run: OpenRun) -> None:
    search.scan(run, "Here it is").wait()
    found = listing.hits(run, Filter(find="Here it is"), "", 1)
    assert {(hit.in_code, hit.line, hit.before) for hit in found} == {(False, 1, "")}
    codes = [grade.code for grade in sample_run.grades()]
    assert len(found) == len([code for code in codes if code])


FINDS = ("rare_", "/rare_\\d+$/", "/rare_\\d+/", "return 2999", "nowhere")


@pytest.mark.parametrize("find", mostly_slow(FINDS, "rare_", "/rare_\\d+$/"))
def test_a_search_of_several_steps_finds_what_a_scan_of_all_texts_finds(many: OpenRun, find: str) -> None:
    search.scan(many, find).wait()
    matches = re.compile(find[1:-1], re.MULTILINE).search if search.is_pattern(find) else lambda text: find in text
    texts = many.rows('SELECT "row", code, completion FROM stored_rollouts ORDER BY "row"')
    wanted = [row for row, code, completion in texts if matches(code) or matches(completion)]
    assert sorted(query.rows_inside(many, Filter(find=find))) == wanted
    now = search.scan(many, find).progress()
    assert now == ("finished", MANY, MANY, len(wanted), "")


def test_a_stopped_search_shows_what_it_found_and_goes_on_where_it_was(
    many: OpenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    filter_ = Filter(find="rare_")
    matches, steps = search._matches, itertools.count(1)
    third, is_stopped = threading.Event(), threading.Event()

    def third_waits(find: str, *, recorded: bool) -> object:
        if next(steps) == 3:
            third.set()
            is_stopped.wait(HANG_S)
        return matches(find, recorded=recorded)

    monkeypatch.setattr(search, "_STEP", 250)
    monkeypatch.setattr(search, "_matches", third_waits)
    scan = search.Scan(many, "rare_")
    search._scans[str(many.path), many.stamp, "rare_"] = scan
    assert third.wait(HANG_S)
    scan.stop()
    is_stopped.set()
    scan.wait()
    assert scan.progress() == ("stopped", 750, MANY, 3, "")
    assert query.count(many, filter_) == 3
    scan.resume()
    scan.wait()
    assert scan.progress() == ("finished", MANY, MANY, 12, "")
    assert query.count(many, filter_) == 12, "the count that was cached is not the one of more hits"


def test_two_visitors_share_a_search_and_only_the_last_few_are_kept(many: OpenRun) -> None:
    first = search.scan(many, "rare_2000")
    assert search.scan(many, "rare_2000") is first
    for number in range(10):
        search.scan(many, f"return {number}99\n").wait()
    assert many.rows("SELECT count(DISTINCT find) FROM found") == [(8,)]
    query.count(many, Filter(find="rare_2000"))
    [*_, (key, again)] = search._scans.items()
    again.wait()
    assert (key[2], query.count(many, Filter(find="rare_2000"))) == ("rare_2000", 1), "it is searched for again"


def test_a_search_is_a_condition_like_any_other(run: OpenRun) -> None:
    search.scan(run, "total").wait()
    counts = aggregates.verdict_counts(run, Filter(find="total", verdicts=("runtime_error",)))
    assert [(each.verdict, each.rollouts) for each in counts] == [("runtime_error", 1)]
    assert dict(query.without_each(run, Filter(find="total", model="small"))) == {"find": 7, "model": 1}


@pytest.mark.parametrize(
    ("find", "pattern"),
    [("imp.", "imp\\."), ("/^import/", "^import"), ("/(a)|x/", "a|x"), ("/x*/", "x+"), ("/(?s)a.i/", "(?s)a.i")],
)
def test_every_match_has_its_place(run: OpenRun, find: str, pattern: str) -> None:
    code = "x importa a\nimport imp. b"
    assert search.spans(run, find, code) == [match.span() for match in re.finditer(pattern, code, re.MULTILINE)] != []
    assert search.spans(run, "/(/", code) == []


def test_an_export_waits_for_the_search(many: OpenRun) -> None:
    file = io.BytesIO()
    rows = query.rows_inside(many, Filter(find="/rare_\\d+/"))
    assert export(many.run, file, format="jsonl", rows=rows, columns=["sample_id"]) == 12


@pytest.mark.parametrize("find", ["/(ab/", "/a**/", "/[/", "/(?=look)/", "/\\/"])
def test_what_is_wrong_with_a_regular_expression_is_said_in_one_line(run: OpenRun, find: str) -> None:
    now = search.scan(run, find).progress()
    assert now.state == "finished"
    said = f"{find} is not a regular expression that can be searched for: "
    assert now.error.startswith(said)
    assert "Error" not in now.error.removeprefix(said)
    assert "\n" not in now.error
    assert query.count(run, Filter(find=find)) == 0


@pytest.mark.parametrize("page", mostly_slow(("overview", "rollouts", "completion", "rewards"), "overview"))
def test_a_copied_address_searches_by_itself_on_every_page(page: str) -> None:
    app = searched(visit(page, find="total.plus"))
    assert "1 of 13 rollouts" in text(app)


def test_the_search_page_lists_each_rollout_with_its_line_and_its_field_writes_the_filter() -> None:
    app = searched(visit("rollouts", view="search", find="total.plus", verdict="failed"))
    (hit,) = component(app, "hit_table")["rows"]
    assert hit["cells"][:-1] == [{"letter": "E", "text": ""}, "math/add", "large", "#1", "code", "4"]
    assert hit["cells"][-1] == {"parts": ["total = ", "total.plus", "(1)"]}
    assert hit["href"].startswith("completion?run=sample&task=math%2Fadd&sample=add%231&up=view%3Dsearch")
    assert "13 rollouts searched, 1 found" in text(app)
    searched(app.text_input(key="w_find_here").set_value("return missing").run())
    assert app.query_params["find"] == "return missing"
    assert [row["cells"][3] for row in component(app, "hit_table")["rows"]] == ["#2"]


def test_a_wrong_regular_expression_is_said_and_can_be_removed() -> None:
    app = visit("rollouts", view="search", find="/(/")
    assert "/(/ is not a regular expression" in text(app)
    click(app, "undo_find")
    assert "find" not in app.query_params
    assert "case counts" in text(app)
