"""One completion: its code with the failing line, the input, expected beside actual, its output."""

import streamlit as st

from dashboard import controls
from dashboard.completion import completion, panes

screen = controls.screen(named=False)
rollout = completion.find(screen)
test = completion.current(screen, rollout)

completion.head(screen, rollout, test)
completion.strip(screen, rollout, test)
if screen.view.view in panes.WIDE:
    panes.left(screen, rollout, test)
else:
    left, right = st.columns([1, 1], gap="small")
    with left:
        panes.left(screen, rollout, test)
    with right:
        panes.right(screen, rollout, test)
