"""Small results of queries, kept from one rerun of the script to the next."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

from dashboard.queries import search
from dashboard.state import Filter
from dashboard.workspace import OpenRun

P = ParamSpec("P")
T = TypeVar("T")


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Cache a small result by the run's key and the other arguments. A filter's search starts here."""
    keyed: Callable[[Callable[P, T]], Callable[P, T]] = st.cache_data(
        show_spinner=False, max_entries=200, hash_funcs={OpenRun: lambda run: run.key, Filter: search.filter_key}
    )
    result = keyed(function)

    @functools.wraps(function)
    def searched(*args: P.args, **kwargs: P.kwargs) -> T:
        given = (*args, *kwargs.values())
        for filter_ in given:
            if isinstance(filter_, Filter) and filter_.find:
                for run in given:
                    if isinstance(run, OpenRun):
                        search.scan(run, filter_.find)
        return result(*args, **kwargs)

    return searched
