"""Statistics of numbers, in tables by name. Those that are not finite (a sum beyond the floats' range) are left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final

import numpy as np

Statistics = Mapping[str, Callable[[Sequence[float]], float]]

_HALVINGS: Final = 60
_CONFIDENCE: Final = 0.95


def figures_of(values: Sequence[float], statistics: Statistics, name: str) -> dict[str, float]:
    """The finite statistics of the values, if there are any. `name`: of a figure, with `{}` for the statistic's."""
    found = {name.format(each): float(statistic(values)) for each, statistic in statistics.items()} if values else {}
    return {each: value for each, value in found.items() if math.isfinite(value)}


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies, interpolated."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.quantile(values, share))


def mean_of(values: Sequence[float]) -> float:
    """Infinite if the sum is beyond the floats' range."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.inf


def _deviation(values: Sequence[float], fewer: int) -> float:
    """The standard deviation of a population, or with `fewer` 1 of a sample; 0 for one value."""
    mean = mean_of(values)
    squares = sum((value - mean) * (value - mean) for value in values)
    return math.sqrt(squares / max(1, len(values) - fewer))


def _standard_error(values: Sequence[float]) -> float:
    return _deviation(values, 1) / math.sqrt(len(values))


def _end_of_interval(values: Sequence[float], side: int) -> float:
    """The lower or upper end of the mean's 95 % interval by Student's t; NaN for one value."""
    n = len(values)
    return mean_of(values) + side * t95(n - 1) * _standard_error(values) if n > 1 else math.nan


OF_RATIOS: Final[Statistics] = {"mean": mean_of, "median": partial(quantile, share=0.5)}
OF_TOKENS: Final[Statistics] = {**OF_RATIOS, "total": sum}
OF_SAMPLE: Final[Statistics] = {**OF_RATIOS, "std": partial(_deviation, fewer=1), "min": min, "max": max}
OF_TURNS: Final[Statistics] = {**OF_SAMPLE, "std": partial(_deviation, fewer=0), "p90": partial(quantile, share=0.9)}
OF_LATENCY: Final[Statistics] = {
    "mean": mean_of,
    **{f"p{percent}": partial(quantile, share=percent / 100) for percent in (50, 90, 99)},
}
_INTERVAL: Final[Statistics] = {
    "ci_low_95": partial(_end_of_interval, side=-1),
    "ci_high_95": partial(_end_of_interval, side=1),
}
OF_REPEATS: Final[Statistics] = {**OF_SAMPLE, "se": _standard_error, **_INTERVAL}
OF_A_REPEAT: Final[Statistics] = {
    **OF_SAMPLE,
    "sem": _standard_error,
    **_INTERVAL,
    "p25": partial(quantile, share=0.25),
    "p75": partial(quantile, share=0.75),
}


@lru_cache(maxsize=1024)
def t95(degrees: int) -> float:
    """Student's t with P(|T| < t) = 0.95 for `degrees` of freedom, without SciPy. Raises `ValueError` below 1.

    By bisection: the probability rises with the angle arctan(t / sqrt(degrees)).
    """
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom: give 1 or more")
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _probability(middle, degrees) < _CONFIDENCE:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan((low + high) / 2)


def _probability(angle: float, degrees: int) -> float:
    """P(|T| < t): the finite sums of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4."""
    cosine, sine, odd = math.cos(angle), math.sin(angle), degrees % 2
    powers = np.arange(odd, degrees - 1, 2)
    terms = np.cumprod([cosine if odd else 1.0, *cosine * cosine * (powers + 1) / (powers + 2)])
    total = float(terms[: len(powers)].sum())
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
