"""Whether code can run on this machine, and what to do where it can't."""

from __future__ import annotations

import streamlit as st

from dashboard import workspace


@st.cache_resource(ttl=300, show_spinner=False)
def fix() -> str | None:
    """None if the sandbox starts; else one line that says what to do."""
    from evaluator.sandbox import Sandbox, SandboxUnavailable

    try:
        with Sandbox() as sandbox:
            sandbox.warm_up()
    except SandboxUnavailable as error:
        return error.mend or str(error)
    return None


def refusal() -> str | None:
    """Why visitors may not run code, as one line; None if they may."""
    if not workspace.may_run_code():
        return "Running code is off, because others can reach this page. To allow it, start with --allow-rerun."
    return fix()
