"""The view: what the screen shows, as the URL says. Every link, filter, "next" and export uses it.

The view is stored only in the URL, so that a copied address shows the same screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

import msgspec
import streamlit as st

from dashboard import address, escape, theme
from evaluator.model import Verdict

FAILED = "failed"
"""In `verdict=`: every verdict that is the completion's own fault."""

VERIFIED, UNVERIFIED = "yes", "no"
"""In `verified=`."""

VERDICT_WORDS: tuple[str, ...] = (FAILED, *(v.value for v in Verdict))

PAGES = {
    "overview": "Overview",
    "rollouts": "Rollouts",
    "completion": "Completion",
    "tasks": "Tasks",
    "rewards": "Rewards",
}
"""File name (also the URL's path; `overview` is at `/`) and title of each page."""

_PENDING = "_go"


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
    q: str = ""
    """Text to find in task, sample, model and error message, in any case."""
    r_min: float | None = None
    r_max: float | None = None

    def __bool__(self) -> bool:
        return self != Filter()

    @property
    def by_outcome(self) -> bool:
        """Whether it selects by how a rollout ended, so that rates such as pass@1 would mean nothing."""
        picked = (self.verdicts, self.err, self.flag, self.verified)
        return any(picked) or self.r_min is not None or self.r_max is not None

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
    up: str = ""
    """For a completion: the query of the list that it was opened from."""

    def but(self, **changes: object) -> View:
        """This view with some fields replaced; they may also be fields of the filter."""
        inner = {name: changes.pop(name) for name in list(changes) if name in Filter.__struct_fields__}
        view = msgspec.structs.replace(self, **changes)
        return msgspec.structs.replace(view, filter=msgspec.structs.replace(view.filter, **inner)) if inner else view

    def place(self) -> View:
        """What a link to another page keeps: the run and the filter."""
        return View(run=self.run, filter=self.filter)

    def below(self) -> str:
        """The `up` for a completion opened from this list."""
        return urlencode(View(task=self.task, sort=self.sort, page=self.page, view=self.view).params())

    def above(self) -> View:
        """The list that this completion was opened from, with the current filter."""
        listed = parse(dict(parse_qsl(self.up)))
        return self.place().but(task=listed.task, sort=listed.sort, page=listed.page, view=listed.view)

    def params(self) -> dict[str, str]:
        """The URL's query for this view, without defaults."""
        filter_ = self.filter
        pairs: dict[str, object] = {
            "run": self.run,
            "task": self.task,
            "sample": self.sample,
            "test": self.test,
            "verdict": ",".join(filter_.verdicts),
            "model": filter_.model,
            "err": filter_.err,
            "flag": filter_.flag,
            "verified": filter_.verified,
            "q": filter_.q,
            "r_min": _number_text(filter_.r_min),
            "r_max": _number_text(filter_.r_max),
            "sort": self.sort,
            "page": self.page if self.page > 1 else None,
            "view": self.view,
            "up": self.up,
        }
        return {key: str(value) for key, value in pairs.items() if value not in (None, "")}


def parse(params: Mapping[str, str]) -> View:
    """The view of a URL's query. Values that can't be read count as missing."""
    words = [word for word in params.get("verdict", "").split(",") if word in VERDICT_WORDS]
    return View(
        run=params.get("run", ""),
        task=params.get("task", ""),
        sample=params.get("sample", ""),
        test=_int(params.get("test")),
        filter=Filter(
            verdicts=tuple(dict.fromkeys(words)),
            model=params.get("model", ""),
            err=params.get("err", ""),
            flag=params.get("flag", ""),
            verified=_verified(params.get("verified", "")),
            q=params.get("q", ""),
            r_min=_float(params.get("r_min")),
            r_max=_float(params.get("r_max")),
        ),
        sort=params.get("sort", ""),
        page=max(1, _int(params.get("page")) or 1),
        view=params.get("view", ""),
        up=params.get("up", ""),
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
    st.session_state[_PENDING] = address.order(href(page, view))


def follow() -> None:
    """Open the page of the last `go`. Called once, at the start of the script; the browser then requests the page."""
    address.change(st.session_state.get(_PENDING))


def name(page: str, view: View) -> None:
    """Put the view that the page already shows into the URL, without a new entry in the browser's history.

    Call it even if the URL is right already: else everything below on the page would move, and be drawn again.
    """
    wanted = address.order(href(page, view)) if view != read() else None
    address.change(wanted, key="name", replace=True)


def _number_text(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _verified(text: str) -> str:
    return text if text in (VERIFIED, UNVERIFIED) or text.startswith(f"{UNVERIFIED}: ") else ""


def _int(text: str | None) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        return None


def _float(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is None or abs(value) < float("inf") else None
