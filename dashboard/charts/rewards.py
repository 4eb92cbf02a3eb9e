"""How rewards are distributed: by verdict, by model, by their parts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from dashboard import escape, theme
from dashboard.charts.frame import count_rollouts, dressed, look, soft
from dashboard.queries.distributions import PartMean
from dashboard.wording import counted
from evaluator.metrics import Interval
from evaluator.model import Verdict

_FEW = 12
_PRINTED = 6
"""Up to this many bars of a model have their share printed."""
_ROOMY = 6
"""Rows of up to this many models have room for a share above its bar."""
_BAR = 0.68
"""The height of the longest bar in the row of a model."""

Values = Sequence[tuple[float, str, int]]
"""(reward, verdict or model, rollouts)."""


def by_verdict(values: Values, width: float, *, height: int) -> go.Figure:
    """Stacked bars of rollouts by reward; where rewards are few, 0 and 1 have their own bars."""
    figure = go.Figure()
    rewards = sorted({reward for reward, _, _ in values})
    bar = width or _gap(rewards) * 0.6
    names = {name for _, name, _ in values}
    for part in [v.value for v in Verdict if v.value in names]:
        counts = {reward: count for reward, name, count in values if name == part}
        figure.add_bar(
            x=rewards,
            y=[counts.get(reward, 0) for reward in rewards],
            width=bar,
            customdata=[[index] for index in range(len(rewards))],
            text=[counted(counts.get(reward, 0), "rollout") for reward in rewards],
            hovertemplate=f"reward %{{x:.3g}}<br>{escape.plotly(part)}: %{{text}}<extra></extra>",
            **verdict_bars(part),
        )
    heights = Counter[float]()
    for reward, _, count in values:
        heights[reward] += count
    figure.update_layout(barmode="stack", bargap=0.08, uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_xaxes(title_text=f"reward (n = {counted(sum(heights.values()), 'rollout')})", tickformat=".3~g")
    if len(rewards) <= _FEW and not width:
        figure.update_xaxes(tickvals=rewards)
    count_rollouts(figure, max(heights.values(), default=0))
    return dressed(figure, height, legend=True)


def by_model(
    values: Values, width: float, models: Sequence[str], means: Mapping[str, Interval], *, height: int
) -> go.Figure:
    """A row per model: the shares of its rollouts by reward, and under them the mean with its 95% interval."""
    figure = go.Figure()
    rewards = sorted({reward for reward, _, _ in values})
    bar = width or _gap(rewards) * 0.6
    totals = Counter[str]()
    for _, model, count in values:
        totals[model] += count
    scale = _BAR / max((count / totals[model] for _, model, count in values), default=1)
    targets = itertools.count()
    for row, model in enumerate(models):
        base, name = len(models) - 1 - row, escape.plotly(model)
        counts = [(reward, count) for reward, part, count in values if part == model]
        total = totals[model]
        figure.add_bar(
            x=[reward for reward, _ in counts],
            y=[scale * count / total for _, count in counts],
            base=[base] * len(counts),
            width=bar,
            customdata=[[next(targets), count / total] for _, count in counts],
            text=[f"{count / total:.0%}" if len(rewards) <= _PRINTED else "" for _, count in counts],
            textposition="auto" if len(models) <= _ROOMY else "inside",
            textangle=0,
            insidetextfont={"color": theme.ink(look(0).colour)},
            cliponaxis=False,
            hovertext=[f"{name}<br>reward {reward:.3g}: {counted(count, 'rollout')}" for reward, count in counts],
            hovertemplate="%{hovertext}, %{customdata[1]:.1%}<extra></extra>",
            marker={"color": look(0).colour, "line": {"width": 0}},
        )
        if model in means:
            _add_mean(figure, base - 0.12, name, means[model])
    n = sum(count for _, _, count in values)
    figure.update_layout(barmode="overlay", uniformtext={"minsize": 9, "mode": "hide"})
    figure.update_xaxes(title_text=f"reward (n = {counted(n, 'rollout')}; mean over tasks, 95%)", tickformat=".3~g")
    if len(rewards) <= _FEW and not width:
        figure.update_xaxes(tickvals=rewards)
    names = [escape.plotly(model) for model in reversed(models)]
    figure.update_yaxes(
        tickvals=[place + 0.2 for place in range(len(models))], ticktext=names, showgrid=False, zeroline=False,
        range=[-0.3, len(models) - 0.05],
    )  # fmt: skip
    return dressed(figure, height)


def _add_mean(figure: go.Figure, place: float, name: str, mean: Interval) -> None:
    figure.add_scatter(
        x=[mean.value],
        y=[place],
        error_x={
            "symmetric": False, "array": [mean.high - mean.value], "arrayminus": [mean.value - mean.low],
            "width": 3, "thickness": 1.5, "color": soft(),
        },
        mode="markers",
        marker={"size": 7, "symbol": "diamond", "color": soft()},
        text=[f"{name}<br>mean reward {mean.value:.3f}<br>95%: {mean.low:.3f} to {mean.high:.3f}"],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def parts(found: Sequence[PartMean], *, height: int) -> go.Figure:
    """The mean of each part of the reward, a mark per model."""
    figure = go.Figure()
    names = list(dict.fromkeys(each.name for each in found))
    models = list(dict.fromkeys(each.model for each in found))
    for index, model in enumerate(models):
        own = [(place, each) for place, each in enumerate(found) if each.model == model and each.mean is not None]
        figure.add_scatter(
            x=[each.mean for _, each in own],
            y=[len(names) - 1 - names.index(each.name) for _, each in own],
            mode="markers",
            marker={"size": 9, "color": look(index).colour, "symbol": look(index).symbol},
            name=escape.plotly(model),
            customdata=[[place] for place, _ in own],
            text=[
                f"{escape.plotly(each.name)}, {escape.plotly(model)}<br>mean of {counted(each.rollouts, 'rollout')}"
                for _, each in own
            ],
            hovertemplate="%{text}: %{x:.3f}<extra></extra>",
        )
    figure.update_xaxes(title_text=f"mean of the part ({counted(len(names), 'part')})", tickformat=".3~g")
    ticks = [escape.plotly(name) for name in reversed(names)]
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=ticks, range=[-0.5, len(names) - 0.5])
    return dressed(figure, height, legend=len(models) > 1)


def verdict_bars(part: str) -> dict[str, object]:
    """Name, colour and letter of a verdict's bars. The letter is for readers who see no colours."""
    verdict = theme.verdict(part)
    marker: dict[str, object] = {"color": theme.COLOURS[verdict], "line": {"width": 0}}
    if verdict in theme.HATCHED:
        marker["pattern"] = {"shape": "/"}
    font = {"color": theme.ink(theme.COLOURS[verdict]), "size": 11}
    return {
        "name": f"{verdict.letter} {escape.plotly(part)}", "marker": marker, "texttemplate": verdict.letter,
        "textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "insidetextfont": font,
    }  # fmt: skip


def _gap(rewards: Sequence[float]) -> float:
    return min((b - a for a, b in itertools.pairwise(rewards)), default=1.0)
