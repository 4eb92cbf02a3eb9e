"""Starts Streamlit, and meanwhile loads what a visitor would wait for: modules, a run, the sandbox's proof, suspects.

`rollscope view` runs this file. Its arguments are those of the `streamlit` command.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from streamlit.web import cli

from dashboard import own_pages


def _warm_up() -> None:
    for name in ("streamlit.runtime.caching", "streamlit.runtime.scriptrunner_utils.script_run_context"):
        logging.getLogger(name).addFilter(lambda _: False)  # they expect a visitor
    from dashboard import opening, sandbox_state, workspace
    from dashboard.queries import dataset

    run = None
    with contextlib.suppress(Exception):  # the page says what is wrong with it
        first = workspace.entries()[0]
        if first.rollouts is None:
            run = workspace.open_run(first)
        else:
            opening.reading(first.rollouts).look()
            workspace.open_run(first)
    with contextlib.suppress(Exception):
        sandbox_state.fix()
    with contextlib.suppress(Exception):
        if run is not None:
            dataset.prepare(run)
    # Streamlit collects garbage after each drawing, also of a line drawn twice a second. Most of that time would
    # go into looking at what was loaded once.
    from dashboard import controls  # noqa: F401 - it loads most of the rest

    gc.collect()
    gc.freeze()


def _serve() -> None:
    """Serve until a signal ends it, and leave at once: there is nothing to clean up, but DuckDB's binding would print
    pages about connections that visitors' threads still hold."""
    status = 0
    try:
        cli.main(prog_name="streamlit")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    own_pages.close_to_others()
    threading.Thread(target=_warm_up, name="warm up", daemon=True).start()
    _serve()
