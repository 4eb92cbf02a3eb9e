"""Whether visitors may run code on this machine, which graders they may use, and what to do where they can't."""

from __future__ import annotations

import streamlit as st

from dashboard import workspace
from evaluator.graders import get_grader
from evaluator.graders.spec import names_file
from evaluator.options import Options


@st.cache_resource(ttl=300, show_spinner=False)
def fix() -> str | None:
    """None if the sandbox starts; else one line that says what to do."""
    return _fault() and _fault()  # a busy machine may fail a proof once, and the answer is kept


def _fault() -> str | None:
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


def grader_refusal(grader: str) -> str | None:
    """Why a page may not grade with a grader that a visitor or a run names; None if it may. Raises `GraderError`."""
    if names_file(grader):
        return f"grader {grader}: it loads code from a file: use rollscope grade"
    if get_grader(grader).waits:
        return f"grader {grader}: it calls another service: use rollscope grade"
    return None


def options_of(options: Options) -> Options:
    """Those of a run's that matter where its completions run once more."""
    return Options(limits=options.limits, time_factor=options.time_factor, sandbox=options.sandbox)
