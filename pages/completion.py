"""One completion: its code with the failing line, the input, expected beside actual, its output."""

import streamlit as st

from dashboard import completion, controls, conversation, reward_parts, siblings, why

screen = controls.screen(named=False)
rollout = completion.find(screen)

completion.head(screen, rollout)
test = completion.strip(screen, rollout)
left, right = st.columns([1, 1], gap="small")
with left:
    completion.code(screen, rollout, test)
with right:
    if screen.view.tab == "why":
        why.show(screen, rollout, test)
        st.stop()
    if screen.view.tab == "siblings":
        siblings.show(screen, rollout, test)
        st.stop()
    reward_parts.show(rollout)
    completion.flags(rollout)
    completion.error(rollout, test)
    completion.case(screen, rollout, test)
    completion.streams(test)
    conversation.show(rollout.metadata)
    completion.metadata(rollout)
