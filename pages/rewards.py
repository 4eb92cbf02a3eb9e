"""How rewards are distributed, how hard the tasks are, and what more samples would bring."""

import streamlit as st

from dashboard import controls, rewards

screen = controls.screen()
rewards.head(screen)
controls.require_rows(screen)

left, right = st.columns(2, gap="medium")
with left:
    rewards.histogram(screen, by="verdict")
    rewards.pass_rates(screen)
with right:
    rewards.histogram(screen, by="model")
    rewards.pass_at_k(screen)
rewards.tables(screen)
