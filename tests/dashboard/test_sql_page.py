"""The SQL page: statements in the address, their rows as a table, a chart or a file."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import escape
from dashboard.queries import console
from dashboard.sql import sql_console_chart
from dashboard.sql.sql_console_chart import Axes
from dashboard.workspace import OpenRun
from evaluator.runs.files import QueryError
from tests.dashboard import hostile_text
from tests.dashboard.test_pages import no_exception, text, visit

pytestmark = pytest.mark.usefixtures("opened")


def drawn(app: AppTest) -> pa.Table:
    return app.dataframe[0].value


def figure(app: AppTest) -> dict[str, Any]:
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)


@pytest.mark.parametrize("example", console.EXAMPLES, ids=lambda example: example.label)
def test_an_example_gives_rows(example: console.Example) -> None:
    app = visit("sql", query=example.sql)
    no_exception(app)
    assert len(app.dataframe) == 1
    assert "rs-banner" not in text(app).replace(".rs-banner", "")
    assert example.sql in app.text_area[0].value


def test_the_page_lists_the_tables_the_examples_and_what_to_do() -> None:
    app = visit("sql")
    no_exception(app)
    assert "<td>&quot;group&quot;</td><td>varchar</td>" in text(app)
    assert "test_index" in text(app)
    assert "choose one of the examples" in text(app)
    links = [link.label for link in app.page_link]
    assert all(escape.markdown(example.label) in links for example in console.EXAMPLES)


def test_a_statement_goes_into_the_address_and_its_answer_is_kept() -> None:
    app = visit("sql")
    app.text_area[0].set_value("SELECT model, count(*) AS n FROM rollouts GROUP BY model ORDER BY model")
    app.button(key="sql_run").click().run()
    no_exception(app)
    assert "SELECT model" in str(app.query_params["query"])
    assert list(drawn(app).columns) == ["model", "n"]
    kept = app.session_state["sql_outcome"]
    app.run()
    assert app.session_state["sql_outcome"] is kept  # another widget does not run it again
    app.button(key="sql_run").click().run()
    assert app.session_state["sql_outcome"] is not kept


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM read_csv('/etc/passwd')", "Permission Error"),
        ("DROP VIEW rollouts", "Use one SELECT statement: the run can be read, not changed"),
        ("SELECT 1; SELECT 2", "Use one SELECT statement"),
        ("SELECT group FROM rollouts", "the column group needs quotes"),
        ("SELECT length(repeat('x', 3000000000))", "The statement needs more than 512 MB"),
        ("SELECT '" + "x" * 20_000 + "'", "A statement may have 20,000 characters"),
        ("SELECT 1 FROM nowhere", "Table with name nowhere does not exist"),
    ],
)
def test_a_statement_that_can_not_be_answered_is_one_line(sql: str, said: str) -> None:
    app = visit("sql", query=sql)
    no_exception(app)
    assert said in text(app)
    assert not app.dataframe


def test_rows_are_cut_at_a_limit_that_is_said() -> None:
    app = visit("sql", query="SELECT range AS n FROM range(1000000000)")
    assert "the first 10,000 rows, there are more" in text(app)
    assert len(drawn(app)) == 10_000


def test_a_chart_of_any_columns() -> None:
    sql = "SELECT verdict, model, count(*) AS n FROM rollouts GROUP BY ALL"
    app = visit("sql", query=sql, view="bar", by="verdict", fields="n", cols="model")
    no_exception(app)
    spec = figure(app)
    assert {trace["type"] for trace in spec["data"]} == {"bar"}
    assert spec["layout"]["yaxis"]["title"]["text"] == "n"
    assert spec["layout"]["xaxis"]["title"]["text"].startswith("verdict (n = ")
    assert "passed" in spec["layout"]["xaxis"]["ticktext"]
    assert len(spec["data"]) > 1

    plain = figure(visit("sql", query=sql, view="line", by="gone", fields="verdict"))  # columns of another statement
    assert plain["layout"]["yaxis"]["title"]["text"] == "n"
    assert "needs a column of numbers" in text(visit("sql", query="SELECT model FROM rollouts", view="scatter"))


def test_names_in_a_chart_are_plain_text() -> None:
    texts = list(hostile_text.TEXTS)
    table = pa.table({"<b>x</b>": texts, "y": list(range(len(texts))), "s": texts})
    drawing, _ = sql_console_chart.figure(table, "bar", Axes("<b>x</b>", "y", "s"), height=300)
    spec = drawing.to_json()
    assert "<b>" not in spec.replace("\\u003c", "<")
    assert "<a " not in spec.replace("\\u003c", "<")


def test_a_chart_says_what_it_leaves_out() -> None:
    numbers = [None, float("nan"), *range(6_000)]
    table = pa.table(
        {"x": pa.array(range(6_002)), "y": pa.array(numbers, pa.float64()), "s": [str(n % 20) for n in range(6_002)]}
    )
    drawing, said = sql_console_chart.figure(table, "scatter", Axes("x", "y", "s"), height=300)
    assert said == "drawn: the first 5,000 of 6,002 rows; 2 without a number left out; 8 of 20 values of s"
    assert len(drawing.data) == 8


@pytest.mark.parametrize("value", ["[1, 2]", "{'a': 1}", "DATE '2026-01-02'", "1.5::DECIMAL(4,1)", "NULL", "'<img>'",
                                   "'x'::BLOB", "INTERVAL 1 DAY", "repeat('x', 100000)", "'NaN'::DOUBLE"])  # fmt: skip
def test_any_type_is_drawn(value: str) -> None:
    app = visit("sql", query=f'SELECT {value} AS "<b>value</b>"')
    no_exception(app)
    assert len(drawn(app)) == 1
    assert len(str(drawn(app).iloc[0, 0])) <= 301


def test_files_have_all_rows(run: OpenRun) -> None:
    sql = "SELECT range AS n, '=1' AS text FROM range(20000)"
    assert console.download(run, sql, "csv").splitlines()[:2] == [b"n,text", b"0,'=1"]
    assert len(console.download(run, sql, "jsonl").splitlines()) == 20_000
    assert pq.read_table(io.BytesIO(console.download(run, sql, "parquet"))).num_rows == 20_000
    with pytest.raises(QueryError):
        console.download(run, "COPY rollouts TO '/tmp/x'", "csv")


def test_a_statement_reads_the_whole_run_whatever_the_filter() -> None:
    app = visit("sql", query="SELECT count(*) AS n FROM rollouts", verdict="failed")
    assert drawn(app)["n"].tolist() == [13]
    assert "whatever the filter" in text(app)
