"""The run, its results, and the way to the first failure."""

import streamlit as st

from dashboard import controls, facts, input_problems, overview
from dashboard.components import links
from dashboard.queries import aggregates

screen = controls.screen()
view, run = screen.view, screen.run

overview.head(screen)
controls.require_rows(screen)
overview.figures(screen)

left, right = st.columns([1, 1], gap="medium")
with left:
    whose = "Verdicts that they came with" if run.recorded else "Verdicts"
    facts.section(f"{whose}, as shares of all (click for the rollouts)")
    links.verdicts(aggregates.verdict_counts(run, view.filter), view, recorded=run.recorded)
    overview.clusters(screen)
    overview.sample(screen)
with right:
    overview.model_lines(screen)
    overview.flat_groups(screen)
    overview.flags(screen)
    overview.unverified(screen)
    overview.provenance(run)
    input_problems.link(run, view)
