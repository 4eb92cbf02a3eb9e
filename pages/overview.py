"""What the run is, what came of it, and the way to the first failure."""

import streamlit as st

from dashboard import bars, charts, controls, facts, summary
from dashboard.queries import distributions, outcomes

screen = controls.screen()
view, run = screen.view, screen.run

summary.head(screen)
controls.require_rows(screen)
summary.figures(screen)

left, right = st.columns([1, 1], gap="medium")
with left:
    facts.section("Verdicts: a click shows the rollouts")
    bars.verdicts(outcomes.verdict_counts(run, view.filter), view)
    summary.models(screen)
with right:
    facts.section("Rewards")
    values = distributions.reward_values(run, view.filter, "verdict")
    figure = charts.reward_histogram(values, distributions.reward_width(run, view.filter), by="verdict", height=230)
    charts.show(figure, "overview_rewards", "Rollouts by reward, coloured by verdict", summary.open_rewards)

left, right = st.columns([1.6, 1], gap="medium")
with left:
    facts.section("Errors that look alike: a click shows the rollouts")
    summary.clusters(screen)
with right:
    summary.flags(screen)
    summary.unverified(screen)
    facts.section("How it was graded")
    summary.provenance(run)

facts.problems(run.manifest)
