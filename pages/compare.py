"""Two runs, or two models of one run: what B fixed and broke, and the code of both."""

import streamlit as st

from dashboard import compare, controls

view, a, b = compare.find(controls.screen(named=False))
shown = compare.Shown(view, a, b)

compare.head(shown)
tasks = compare.changes(shown)
left, right = st.columns(compare.halves(tasks), gap="small")
with left:
    selected = compare.task_list(shown, tasks)
if selected is not None:
    with right:
        compare.code(shown, tasks, selected)
