"""A statement over the run's tables, and what it gives: a table, a chart or a file."""

import streamlit as st

from dashboard import controls, sql_console

screen = controls.screen()

left, right = st.columns([3, 1], gap="medium")
with left:
    sql_console.examples(screen.view)
    sql_console.editor(screen)
    sql_console.result(screen, sql_console.outcome(screen))
with right:
    sql_console.schema()
