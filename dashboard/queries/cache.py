"""Small results of queries, remembered from one rerun of the script to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from dashboard.state import Filter
from dashboard.workspace import OpenRun

F = TypeVar("F", bound=Callable[..., Any])


def cached(function: F) -> F:
    """Remember a small result by the run's key and the other arguments."""
    keyed = st.cache_data(
        show_spinner=False,
        max_entries=200,
        hash_funcs={OpenRun: lambda run: run.key, Filter: lambda filter_: repr(filter_)},
    )
    return keyed(function)  # type: ignore[return-value]
