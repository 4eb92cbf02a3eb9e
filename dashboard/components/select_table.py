"""A table of which one row can be selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import streamlit as st

if TYPE_CHECKING:
    from streamlit.elements.lib.column_config_utils import ColumnConfigMappingInput


def show(
    table: pd.DataFrame | pa.Table, *, key: str, columns: ColumnConfigMappingInput, height: int,
    on_pick: Callable[[int], None], selected: int | None = None,
) -> None:  # fmt: skip
    """Draw the table with the row `selected`; a click on a row calls `on_pick` with its number, from 0."""

    def picked() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows:
            on_pick(rows[0])

    st.dataframe(
        table, key=key, on_select=picked, selection_mode="single-row",
        selection_default={"selection": {"rows": [] if selected is None else [selected]}}, hide_index=True,
        height=height, row_height=26, placeholder="", column_config=columns,
    )  # fmt: skip
