"""Small results of queries, kept from one rerun of the script to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

from dashboard.state import Filter
from dashboard.workspace import OpenRun

P = ParamSpec("P")
T = TypeVar("T")


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Cache a small result by the run's key and the other arguments."""
    keyed: Callable[[Callable[P, T]], Callable[P, T]] = st.cache_data(
        show_spinner=False, max_entries=200, hash_funcs={OpenRun: lambda run: run.key, Filter: repr}
    )
    return keyed(function)
