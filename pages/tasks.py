"""Spot-check: is the task itself right? Its prompt, reference, every test case, and any code against them."""

import streamlit as st

from dashboard import controls, spot_check, trial

screen = controls.screen()

left, right = st.columns([1.12, 1.9], gap="medium")
with left:
    task = spot_check.task_list(screen)
with right:
    cases = spot_check.task(screen, task)
    index = spot_check.case_table(screen, task, cases)
    spot_check.case(task, cases, index)
    trial.offer(screen, task, index)
