"""The Plotly figures. Verdicts have the grid's colours; axes have names with n; nothing is animated."""

from dashboard.charts.curves import by_length, by_step, pass_at_k
from dashboard.charts.frame import Target, show
from dashboard.charts.groups import Step, edges, pass_rates, variances, wall_times
from dashboard.charts.rewards import by_model, by_verdict, parts

__all__ = [
    "Step", "Target", "by_length", "by_model", "by_step", "by_verdict", "edges", "parts", "pass_at_k", "pass_rates",
    "show", "variances", "wall_times",
]  # fmt: skip
