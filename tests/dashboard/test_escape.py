"""Text from files is text in every place where a page shows it."""

import inspect
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard import charts, escape
from dashboard.charts import Step
from dashboard.estimates import Curve, Point
from dashboard.queries.aggregates import Signal
from dashboard.queries.distributions import ALL, Ending, Means, PartMean, Spread, WallTimes
from evaluator import invisible
from evaluator.runs.metrics import Interval
from tests.dashboard import hostile_text
from tests.dashboard.hostile_text import TEXTS
from tests.dashboard.rows import Show
from tests.dashboard.test_pages import PAGES, mostly_slow, visit

_INTERVAL = Interval(0.5, 0.25, 0.75, 4, "bootstrap over tasks")
VALUES = [(1.0, text, 2) for text in TEXTS]
SPREADS = [Spread(0.5, 0.25, 1, text, text, 1) for text in TEXTS]
MEANS = [Means(text, step, step, 2, 2, 0.5, 0.1, 2, 0.4, 0.1) for step, text in enumerate(TEXTS)]
BUILDERS = {
    "by_model": lambda: charts.by_model([(text, _INTERVAL) for text in TEXTS], height=200),
    "by_step": lambda: charts.by_step(MEANS, rates=True, height=200),
    "parts": lambda: charts.parts([PartMean(text, text, 2, 0.5) for text in TEXTS], height=200),
    "pass_rates": lambda: charts.pass_rates([Step(0.5, 1, text) for text in TEXTS], height=200),
    "pass_at_k": lambda: charts.pass_at_k([Curve(text, [Point(1, 4, _INTERVAL)], 0) for text in TEXTS], height=200),
    "variances": lambda: charts.variances(SPREADS, Signal(2, 1, 1, 0), height=200),
}
WITHOUT_TEXTS = {
    "by_length": lambda: charts.by_length([MEANS[0]._replace(part=ALL)], rates=True, height=200),
    "by_verdict": lambda: charts.by_verdict([(1.0, "passed", 2)], 0, height=200),
    "endings": lambda: charts.endings([Ending(1, 1, "passed", 2), Ending(2, 3, "no_code", 1)], height=200),
    "wall_times": lambda: charts.wall_times([WallTimes(1, "passed", 2)], [(10, "limit"), (60, "limit")], height=200),
}
"""What these draw comes from the pages alone."""
_OWN_TAGS = re.compile(r"<br>|<extra></extra>|%\{[\w\[\]:.%,]+\}")


def strings(value: Any) -> Iterator[str]:
    """All texts of a figure, but for the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


def test_every_chart_takes_every_text_for_text() -> None:
    made = {
        name
        for name, function in inspect.getmembers(charts, inspect.isfunction)
        if not name.startswith("_") and inspect.get_annotations(function).get("return") == "go.Figure"
    }
    assert made == BUILDERS.keys() | WITHOUT_TEXTS.keys()
    for name, build in (BUILDERS | WITHOUT_TEXTS).items():
        figure: go.Figure = build()
        found = list(strings(json.loads(figure.to_json())))
        for text in found:
            rest = _OWN_TAGS.sub("", text)
            assert not re.search(r"[<>$]|%\{", rest), text
            assert re.fullmatch(r"(?:[^&]|&#\d+;)*", rest), text
            assert not invisible.UNSEEN.search(text), text
        drawn = [unescape(text) for text in found]
        for text in TEXTS if name in BUILDERS else ():
            assert any(escape.text(text) in each for each in drawn), text


@pytest.mark.parametrize("page", mostly_slow(PAGES, "overview", "completion"))
def test_no_page_draws_what_is_not_seen_or_escapes_where_nothing_is_read_as_markup(
    page: str, tmp_path: Path, show: Show
) -> None:
    show(hostile_text.write(tmp_path / "hostile"))
    app = visit(page, verdict="wrong_answer") if page == "completion" else visit(page)
    html = re.sub(
        r'<span class="rs-unseen" data-mark="U\+\w+">[^<]*</span>', "", "".join(e.proto.body for e in app.html)
    )
    components = [json.loads(e.proto.json) for e in app.get("bidi_component")]
    shown = [
        json.dumps({key: row[key]}, ensure_ascii=False) for row in rows_of(components) for key in row if key in SHOWN
    ]
    options = [option for box in (*app.selectbox, *app.multiselect) for option in box.options]
    tables = [str(cell) for table in app.dataframe for cell in pd.DataFrame(table.value).to_numpy().ravel()]
    labels = [e.proto.label for e in app.get("page_link")] + [box.label for box in (*app.button, *app.expander)]
    for text in (html, *shown, *options, *tables, *labels, *(e.value for e in app.code)):
        assert not invisible.UNSEEN.search(text), text
    assert "<script>" not in html
    assert '<a href="http' not in html
    if page != "completion":
        assert not [option for option in options if "\\" in option]


SHOWN = ("label", "note", "id", "cells", "about", "name", "value")
"""What our components draw. An id is for the way back; it is drawn as its label."""


def rows_of(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for component in components:
        for row in (*component.get("rows", ()), *component.get("cards", ())):
            yield {key: value for key, value in row.items() if key != "id"}


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("run-1.cases.csv", "run-1.cases.csv"),
        ("a/b\\c\n\u202egpj.exe", "a_b_c_gpj.exe"),
        ("..", "_"),
        ('x"; rm -rf ~', "x_rm_-rf_"),
    ],
)
def test_the_name_of_a_download_is_a_name_on_every_machine(name: str, kept: str) -> None:
    assert escape.file_name(name) == kept
