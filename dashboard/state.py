"""The view: what the screen shows, as the URL says. Every link, filter, "next" and export uses it.

The view is stored only in the URL, so that a copied address shows the same screen.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
import streamlit as st

from dashboard import browser, escape, theme
from evaluator.model import Verdict

FAILED = "failed"
"""In `verdict=`: every verdict that is the completion's own fault."""

VERIFIED, UNVERIFIED = "yes", "no"
"""In `verified=`."""

NO_SIGNAL = "no"
SIGNALS: tuple[str, ...] = ("yes", NO_SIGNAL, "all_fail", "all_pass")
"""In `signal=`: whether the rewards of the rollout's group differ; the last two are kinds of `no`."""

FIRST_ALIKE = "first"
"""In `alike=`."""

AGREES: tuple[str, ...] = ("same", "differs", "higher", "lower")
"""In `given=`: the reward that the rollout came with, against our own."""

AGREE, DIFFER = "agrees", "differs"
"""In `recorded=`: whether the verdict that the rollout came with and our own agree on passed or not."""

RECORDED_WORDS: tuple[str, ...] = (AGREE, DIFFER, *(v.value for v in Verdict))

VERDICT_WORDS: tuple[str, ...] = (FAILED, *(v.value for v in Verdict))

PAGES = {
    "overview": "Overview",
    "rollouts": "Rollouts",
    "completion": "Completion",
    "tasks": "Tasks",
    "rewards": "Rewards",
    "compare": "Compare",
    "audit": "Audit",
    "sql": "SQL",
    "bad_lines": "Bad lines",
    "docs": "Docs",
}
"""File name (also the URL's path; `overview` is at `/`) and title of each page."""

_PENDING = "_go"
_LIST = "rollouts"
_KEEPS_FILTER = ("compare", "audit", "sql")


class Filter(msgspec.Struct, frozen=True):
    """Which rollouts are shown. Empty fields do not restrict."""

    verdicts: tuple[str, ...] = ()
    """Verdict words, or `failed`."""
    model: str = ""
    err: str = ""
    """An error cluster's name, from `queries.aggregates.clusters`."""
    flag: str = ""
    """A flag's word, or `word: evidence`, such as `missing_package: pandas`."""
    verified: str = ""
    """`yes`, `no`, or `no: reason`."""
    tag: str = ""
    """A tag from the run's notes (`evaluator.runs.notes`)."""
    given: str = ""
    """One of `AGREES`: rollouts whose given reward equals our own, differs from it, exceeds it or falls below it."""
    alike: str = ""
    """`first`: of the samples of a task that behave alike, the first one that the other fields let through."""
    signal: str = ""
    """One of `SIGNALS`: rollouts of groups whose rewards differ, or are all equal."""
    recorded: str = ""
    """One of `RECORDED_WORDS`: rollouts that came with this verdict, or with one that agrees or differs."""
    q: str = ""
    """Text to find in task, sample, model and error message, in any case."""
    find: str = ""
    """Text to find in completions and code; `/.../` is a regular expression."""
    r_min: float | None = None
    r_max: float | None = None
    step_min: int | None = None
    step_max: int | None = None
    wall_min: float | None = None
    """Seconds of wall time, all test cases together."""
    wall_max: float | None = None
    len_min: int | None = None
    """Characters of the completion."""
    len_max: int | None = None

    def __bool__(self) -> bool:
        return self != Filter()

    @property
    def by_outcome(self) -> bool:
        """Whether it selects by how a rollout ended, so that rates such as pass@1 would mean nothing."""
        picked = (
            self.verdicts, self.err, self.flag, self.verified, self.given, self.signal, self.recorded, self.alike,
        )  # fmt: skip
        bounds = (self.r_min, self.r_max, self.wall_min, self.wall_max)
        return any(picked) or any(bound is not None for bound in bounds)

    @property
    def unverified(self) -> str:
        """The value of `verified` that shows unverified rollouts; it keeps a reason that is already selected."""
        return self.verified if self.verified.startswith(UNVERIFIED) else UNVERIFIED

    def words(self) -> frozenset[str]:
        """The verdict words with `failed` spelled out."""
        named = {word for word in self.verdicts if word != FAILED}
        return frozenset(named | {v.value for v in theme.FAILED} if FAILED in self.verdicts else named)


class View(msgspec.Struct, frozen=True):
    """The URL's query, typed. Missing fields have their defaults."""

    run: str = ""
    task: str = ""
    sample: str = ""
    test: int | None = None
    filter: Filter = Filter()
    sort: str = ""
    page: int = 1
    view: str = ""
    """The shape of the page: grid or table, which pane of code."""
    tab: str = ""
    """For a completion: what its right half shows."""
    cols: str = ""
    """For a grid: how its columns are arranged."""
    by: str = ""
    """For a table: what its rows are grouped by."""
    fields: str = ""
    """For a table: its columns, separated by commas."""
    zoom: int | None = None
    """For a grid: the width of a cell in pixels."""
    at: str = ""
    """For a grid: the selected cell, as `task_id|sample_id`."""
    a: str = ""
    """For a comparison: one side, as `run` or `run|model`; `b` is the other."""
    b: str = ""
    a_step: int | None = None
    """The training step of that side; None for all."""
    b_step: int | None = None
    graders: str = ""
    """For an audit: the checkers, separated by commas."""
    query: str = ""
    """For the SQL page: the statement."""
    up: str = ""
    """For a completion: the list that it was opened from, as `query` (Rollouts) or `page?query`."""

    def but(self, **changes: object) -> View:
        """This view with some fields replaced; they may also be fields of the filter."""
        inner = {name: changes.pop(name) for name in list(changes) if name in Filter.__struct_fields__}
        view = msgspec.structs.replace(self, **changes)
        return msgspec.structs.replace(view, filter=msgspec.structs.replace(view.filter, **inner)) if inner else view

    def place(self) -> View:
        """What a link to another page keeps: the run and the filter."""
        return View(run=self.run, filter=self.filter)

    def below(self, page: str = _LIST) -> str:
        """The `up` for a completion opened from this view of a page."""
        if page in _KEEPS_FILTER:
            return f"{page}?{urlencode(msgspec.structs.replace(self, up='').params())}"
        place = msgspec.structs.replace(self, run="", sample="", filter=Filter(), up="")
        if page == _LIST:
            return urlencode(place.but(test=None).params())
        return f"{page}?{urlencode(place.params())}"

    def above(self) -> tuple[str, View]:
        """The page that this completion was opened from, and its view there.

        Lists come back with the filter as it is now. A comparison, an audit or a statement comes back as it was: it may
        be about another run or model.
        """
        page, mark, query = self.up.rpartition("?")
        if not mark or page not in PAGES:
            page = _LIST
        view = parse(dict(parse_qsl(query)))
        if page not in _KEEPS_FILTER:
            view = msgspec.structs.replace(view, run=self.run, filter=self.filter)
        return page, view

    def params(self) -> dict[str, str]:
        """The URL's query for this view, without defaults."""
        pairs = _fields(self) | _fields(self.filter)
        if self.filter.verdicts:
            pairs["verdict"] = ",".join(self.filter.verdicts)
        return pairs


_LARGEST: Final = 2**53 - 1
"""In a browser, larger whole numbers are not exact, and its fields refuse them."""
_WORDS: Final = {
    "alike": (FIRST_ALIKE,),
    "given": AGREES,
    "signal": SIGNALS,
    "recorded": RECORDED_WORDS,
    "verified": (VERIFIED, UNVERIFIED),
}
"""The values that some fields have; `verified` may have a reason, too."""


def parse(params: Mapping[str, str]) -> View:
    """The view of a URL's query. Values that can't be read count as missing."""
    words = [word for word in params.get("verdict", "").split(",") if word in VERDICT_WORDS]
    filter_ = Filter(verdicts=tuple(dict.fromkeys(words)), **_values(Filter, params))
    view = View(filter=filter_, **_values(View, params))
    return view if view.page > 0 else view.but(page=1)


def _values(struct: type[View | Filter], params: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for each in msgspec.structs.fields(struct):
        if (text := params.get(each.name)) and each.name not in ("filter", "verdicts"):
            with contextlib.suppress(msgspec.ValidationError):
                value = msgspec.convert(text, each.type, strict=False)
                if _is_meant(each.name, value):
                    found[each.name] = value
    return found


def _is_meant(name: str, value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= _LARGEST
    if isinstance(value, float):
        return math.isfinite(value)
    return (
        name not in _WORDS or value in _WORDS[name] or (name == "verified" and str(value).startswith(f"{UNVERIFIED}: "))
    )


def read() -> View:
    """The view of the current URL."""
    return parse(st.query_params.to_dict())


def write(view: View) -> None:
    """Put the view into the URL of the current page."""
    if view.params() != st.query_params.to_dict():
        st.query_params.from_dict(view.params())


def path(page: str) -> str:
    """The page's file, as Streamlit's commands expect it."""
    return f"pages/{page}.py"


def href(page: str, view: View) -> str:
    """A relative address that works from every page, for links that open in a new tab."""
    query = urlencode(view.params())
    return ("./" if page == "overview" else page) + (f"?{query}" if query else "")


def link(page: str, view: View, label: str) -> None:
    """A link to a page. Markdown in `label` has no effect."""
    st.page_link(path(page), label=escape.markdown(label), query_params=view.params())


def go(page: str, view: View) -> None:
    """Open a page from a callback. The browser's history gets one entry."""
    st.session_state[_PENDING] = browser.order(href(page, view))


def follow(page: str) -> None:
    """On `page`, open that of the last `go`. Called once, first of all; the browser then requests it."""
    browser.change(st.session_state.get(_PENDING), page)


def name(page: str, view: View) -> None:
    """Put the view that the page already shows into the URL, without a new entry in the browser's history.

    Call it even if the URL is right already: else everything below on the page would move, and be drawn again.
    """
    wanted = browser.order(href(page, view)) if view != read() else None
    browser.change(wanted, page, key="name", replace=True)


def _fields(record: View | Filter) -> dict[str, str]:
    """Each field that differs from its default, as text."""
    default = type(record)()
    found = {name: getattr(record, name) for name in record.__struct_fields__ if name not in ("filter", "verdicts")}
    return {
        name: _number(value) if isinstance(value, float) else str(value)
        for name, value in found.items()
        if value != getattr(default, name)
    }


def _number(value: float) -> str:
    """Short where that is exact: a bound must not lose the rollouts that lie on it."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)
