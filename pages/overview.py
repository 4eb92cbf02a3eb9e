"""The run, its results, and the way to the first failure."""

import streamlit as st

from dashboard import bars, charts, controls, facts, overview
from dashboard.queries import aggregates, distributions

screen = controls.screen()
view, run = screen.view, screen.run

overview.head(screen)
controls.require_rows(screen)
overview.figures(screen)

left, right = st.columns([1, 1], gap="medium")
with left:
    facts.section("Verdicts (click for the rollouts)")
    bars.verdicts(aggregates.verdict_counts(run, view.filter), view)
    overview.models(screen)
with right:
    facts.section("Rewards")
    values = distributions.reward_values(run, view.filter, "verdict")
    figure = charts.reward_histogram(values, distributions.reward_width(run, view.filter), by="verdict", height=230)
    charts.show(figure, "overview_rewards", "Rollouts by reward, coloured by verdict", overview.open_rewards)

left, right = st.columns([1.6, 1], gap="medium")
with left:
    facts.section("Similar errors (click for the rollouts)")
    overview.clusters(screen)
with right:
    overview.flags(screen)
    overview.unverified(screen)
    facts.section("How it was graded")
    overview.provenance(run)

facts.problems(run.manifest)
