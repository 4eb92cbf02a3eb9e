"""Is the task itself right? Its prompt, reference and test cases, and an editor to run code against them."""

import streamlit as st

from dashboard import controls, tasks, trial_run

screen = controls.screen()

left, right = st.columns([1.12, 1.9], gap="medium")
with left:
    task = tasks.task_list(screen)
with right:
    cases = tasks.task(screen, task)
    index = tasks.case_table(screen, task, cases)
    tasks.case(task, cases, index)
    trial_run.offer(screen, task, index)
