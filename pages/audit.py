"""Is the reward right? Other checkers on the same answers, grades that came with the rollouts, suspicious flags."""

import streamlit as st

from dashboard import audit, controls
from dashboard.tasks import weak_of_run

screen = controls.screen()
controls.require_rows(screen)
if screen.run.recorded:
    audit.not_graded(screen)
    st.stop()

left, right = st.columns([1.6, 1], gap="medium")
with left:
    audit.checkers(screen)
    weak_of_run.show(screen)
with right:
    audit.recorded(screen)
    audit.given(screen)
    audit.flags(screen)
