"""The SQL page: statements in the address, their rows as a table, a chart or a file."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import escape, sql_console
from dashboard.queries import console
from dashboard.sql_console import Axes
from dashboard.workspace import OpenRun
from evaluator.runs.files import QueryError
from tests.dashboard import hostile_text
from tests.dashboard.test_pages import click, text, visit

pytestmark = pytest.mark.usefixtures("opened")


def figure(app: AppTest) -> dict[str, Any]:
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)


@pytest.mark.parametrize("example", console.EXAMPLES, ids=lambda example: example.label)
def test_an_example_gives_rows(example: console.Example, run: OpenRun) -> None:
    assert run.run.connect().sql(example.sql).fetchall()


def test_the_page_lists_the_tables_and_the_examples_and_runs_what_is_in_the_address() -> None:
    app = visit("sql")
    assert "<td>&quot;group&quot;</td><td>varchar</td>" in text(app)
    assert "test_index" in text(app)
    assert "choose one of the examples" in text(app)
    links = [link.label for link in app.page_link]
    assert all(escape.markdown(example.label) in links for example in console.EXAMPLES)
    app.text_area[0].set_value("SELECT model, count(*) AS n FROM rollouts GROUP BY model ORDER BY model")
    click(app, "sql_run")
    assert "SELECT model" in str(app.query_params["query"])
    assert list(app.dataframe[0].value.columns) == ["model", "n"]
    kept = app.session_state["sql_outcome"]
    app.run()
    assert app.session_state["sql_outcome"] is kept  # another widget does not run it again
    click(app, "sql_run")
    assert app.session_state["sql_outcome"] is not kept


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        pytest.param("SELECT 1; SELECT 2", "Use one SELECT statement", marks=pytest.mark.slow),
        ("SELECT '" + "x" * 20_000 + "'", "A statement may have 20,000 characters"),
    ],
)
def test_the_page_says_why_there_is_no_answer(sql: str, said: str) -> None:
    app = visit("sql", query=sql)
    assert said in text(app)
    assert not app.dataframe


def test_rows_are_cut_at_a_limit_that_is_said_and_by_no_filter() -> None:
    sql = "SELECT range AS n, (SELECT count(*) FROM rollouts) AS all FROM range(1000000000)"
    app = visit("sql", query=sql, verdict="failed")
    assert "the first 10,000 rows, there are more" in text(app)
    table = app.dataframe[0].value
    assert (len(table), table["all"][0]) == (10_000, 13)
    assert "whatever the filter" in text(app)


def test_a_chart_of_any_columns() -> None:
    sql = "SELECT verdict, model, count(*) AS n FROM rollouts GROUP BY ALL"
    spec = figure(visit("sql", query=sql, view="bar", by="verdict", fields="n", cols="model"))
    assert {trace["type"] for trace in spec["data"]} == {"bar"}
    assert spec["layout"]["yaxis"]["title"]["text"] == "n"
    assert spec["layout"]["xaxis"]["title"]["text"].startswith("verdict (n = ")
    assert "passed" in spec["layout"]["xaxis"]["ticktext"]
    assert len(spec["data"]) > 1
    table = pa.table({"verdict": ["passed"], "model": ["m"], "n": [1]})
    other = sql_console.axes(table, "gone", "verdict", "")  # columns of another statement
    assert other is not None
    assert other.y == "n"
    assert sql_console.axes(table.select(["model"]), "", "", "") is None


@pytest.mark.slow
def test_without_a_column_of_numbers_there_is_no_chart() -> None:
    assert "needs a column of numbers" in text(visit("sql", query="SELECT model FROM rollouts", view="scatter"))


def test_names_in_a_chart_are_plain_text() -> None:
    texts = list(hostile_text.TEXTS)
    table = pa.table({"<b>x</b>": texts, "y": list(range(len(texts))), "s": texts})
    drawing, _ = sql_console.figure(table, "bar", Axes("<b>x</b>", "y", "s"), height=300)
    spec = drawing.to_json().replace("\\u003c", "<")
    assert "<b>" not in spec
    assert "<a " not in spec


def test_a_chart_says_what_it_leaves_out() -> None:
    numbers = [None, float("nan"), *range(6_000)]
    table = pa.table(
        {"x": pa.array(range(6_002)), "y": pa.array(numbers, pa.float64()), "s": [str(n % 20) for n in range(6_002)]}
    )
    drawing, said = sql_console.figure(table, "scatter", Axes("x", "y", "s"), height=300)
    assert said == "drawn: the first 5,000 of 6,002 rows; 2 without a number left out; 8 of 20 values of s"
    assert len(drawing.data) == 8


@pytest.mark.slow
def test_any_type_is_drawn() -> None:
    values = ["[1, 2]", "{'a': 1}", "DATE '2026-01-02'", "1.5::DECIMAL(4,1)", "NULL", "'<img>'", "'x'::BLOB",
              "INTERVAL 1 DAY", "repeat('x', 100000)", "'NaN'::DOUBLE"]  # fmt: skip
    columns = [f'{value} AS "<b>{place}</b>"' for place, value in enumerate(values)]
    drawn = visit("sql", query=f"SELECT {', '.join(columns)}").dataframe[0].value
    assert drawn.shape == (1, len(values))
    assert all(len(str(cell)) <= 301 for cell in drawn.iloc[0])


def test_files_have_all_rows(run: OpenRun) -> None:
    lines = console.download(run, "SELECT range AS n, '=1' AS text FROM range(20000)", "csv").splitlines()
    assert (len(lines), lines[:2]) == (20_001, [b"n,text", b"0,'=1"])


@pytest.mark.slow
def test_files_of_other_forms_have_all_rows_too(run: OpenRun) -> None:
    sql = "SELECT range AS n FROM range(20000)"
    assert len(console.download(run, sql, "jsonl").splitlines()) == 20_000
    assert pq.read_table(io.BytesIO(console.download(run, sql, "parquet"))).num_rows == 20_000
    with pytest.raises(QueryError):
        console.download(run, "COPY rollouts TO '/tmp/x'", "csv")
