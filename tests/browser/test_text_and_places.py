"""Text from files stays text when a browser has drawn it, and an address brings back the place it was copied from."""

import re

import pytest
from playwright.sync_api import expect

from dashboard import escape
from tests.browser.conftest import Visit
from tests.dashboard import hostile_text
from tests.dashboard.hostile_text import TEXTS

pytestmark = pytest.mark.slow

ALL_TEXTS = {escape.text(text) for text in TEXTS}
NAMES = [
    ("rewards?run=hostile&view=all", ".js-plotly-plot:has(.legendtext:text('zero')) .legendtext"),
    ("rewards?run=hostile&view=all", ".js-plotly-plot:has(.xtitle:has-text('mean reward over tasks')) .ytick"),
    ("?run=hostile", ".models .name"),
    ("compare?run=hostile", ".letters a.row .label"),
]
MARKUP = (
    ".js-plotly-plot a, .js-plotly-plot .legendtext [style*=bold], .legendtext .line, .models script, .models b, "
    ".signal b, [data-testid=stMain] img"
)


@pytest.mark.parametrize(("path", "names"), NAMES)
def test_a_models_name_is_plain_text(visit: Visit, path: str, names: str) -> None:
    page = visit(path)
    page.locator(names).first.wait_for()
    drawn = [re.sub(r" 0\.\d{3}$", "", text) for text in page.locator(names).all_text_contents()]  # and its mean
    assert set(drawn) <= ALL_TEXTS
    assert path.startswith("compare") or len(drawn) == len(TEXTS)  # whose labels are tasks
    expect(page.locator(MARKUP)).to_have_count(0)
    assert page.title().endswith(" · Rollscope")


def test_what_hovers_over_a_mark_is_plain_text(visit: Visit) -> None:
    page = visit("rewards?run=hostile&view=all")
    plot = page.locator(".js-plotly-plot").filter(has=page.locator(".xtitle", has_text="mean reward over tasks"))
    label = plot.locator(".hoverlayer .hovertext")
    seen = [""]
    for bar in plot.locator(".bars .point").all():
        bar.hover(force=True, position={"x": 9, "y": 3})
        expect(label).to_have_count(1)
        expect(label).not_to_have_text(seen[-1])  # until then it is the one of the bar before
        seen.append(label.text_content() or "")
    for text in TEXTS:
        assert any(escape.text(text) in each for each in seen), (text, seen)


def test_a_list_of_options_shows_names_as_they_are(visit: Visit) -> None:
    for path, label, counted in (("?run=hostile", "Model", " (2)"), ("compare?run=hostile", "model", "")):
        page = visit(path)
        fields = page.get_by_test_id("stSidebar" if counted else "stMain").get_by_label(label)
        fields.first.locator("visible=true").click()
        for text in ALL_TEXTS:
            expect(page.get_by_role("option", name=text + counted, exact=True)).to_be_attached()


def test_what_is_not_seen_is_drawn_in_code_and_copied_as_it_is(visit: Visit) -> None:
    page = visit("completion?run=hostile&verdict=wrong_answer")
    line = page.locator(".rs-code .ln").nth(1)
    mark = line.locator(".rs-unseen").first
    assert mark.evaluate("e => getComputedStyle(e, '::before').content") == '"⟨U+202E⟩"'
    box = mark.bounding_box()
    assert box is not None
    assert box["width"] > 30
    places = line.evaluate(
        """line => [...line.querySelectorAll('.rs-unseen')].map(mark => mark.getBoundingClientRect().left)"""
    )
    assert places == sorted(places)  # an override would have turned what follows round
    copied = line.evaluate("""line => { getSelection().selectAllChildren(line); return getSelection().toString(); }""")
    assert hostile_text.CODE.split("\n")[1] in copied
