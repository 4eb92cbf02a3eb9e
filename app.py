"""The dashboard's entry: navigation, sidebar and banners, then the page itself."""

import sys
from pathlib import Path

import streamlit as st

# `streamlit run` puts this file's folder on the path only when it is the script; AppTest does not.
if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))

try:
    import rollscope  # noqa: F401 - which refuses another package `evaluator`
except ImportError as error:
    st.error(str(error))
    st.stop()

from dashboard import controls, escape, navigation, state, theme, workspace
from evaluator.tasks import long_numbers

long_numbers.allow()
st.set_page_config(page_title="Rollscope", layout="wide", initial_sidebar_state=252)
current = navigation.pages()
with navigation.entered(current):
    state.follow(navigation.page())
    theme.apply()
    try:
        controls.name_tab()
        controls.page_links()
        controls.sidebar()
        controls.banners()
        current.run()
    except workspace.WorkspaceError as error:
        st.error(escape.markdown(str(error)))
