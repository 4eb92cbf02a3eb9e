"""Is the reward right? Other checkers on the same answers, rewards that came with the rollouts, suspicious flags."""

import streamlit as st

from dashboard import controls
from dashboard.audit import audit

screen = controls.screen()
controls.require_rows(screen)

left, right = st.columns([1.6, 1], gap="medium")
with left:
    audit.checkers(screen)
with right:
    audit.given(screen)
    audit.flags(screen)
