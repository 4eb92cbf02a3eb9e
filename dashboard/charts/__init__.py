"""The Plotly figures. Verdicts have the grid's colours; axes have names with n; nothing is animated."""

from dashboard.charts.bars import Step, by_model, by_verdict, edges, endings, parts, pass_rates, variances, wall_times
from dashboard.charts.curves import Target, by_length, by_step, pass_at_k, show

__all__ = [
    "Step", "Target", "by_length", "by_model", "by_step", "by_verdict", "edges", "endings", "parts", "pass_at_k",
    "pass_rates", "show", "variances", "wall_times",
]  # fmt: skip
