"""Is the task itself right? The tasks with suspect tests first, their answers by test case, and code to try."""

import streamlit as st

from dashboard import controls
from dashboard.queries import records
from dashboard.tasks import task_list, tasks

screen = controls.screen()

left, right = st.columns([1, 1.8], gap="medium")
with left:
    task = task_list.show(screen)
    task_list.offer_references(screen)
with right:
    cases = records.test_cases(task)
    tasks.head(screen, task, cases)
    tasks.texts(screen, task)
    index = tasks.case_table(screen, task, cases)
    tasks.below(screen, task, cases, index)
