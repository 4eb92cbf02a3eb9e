"""Statistics of numbers, in tables by name. Those that are not finite (a sum beyond the floats' range) are left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Statistics = Mapping[str, Callable[[Floats], float]]

_HALVINGS: Final = 60
_CONFIDENCE: Final = 0.95


def figures(values: Sequence[float], wanted: Statistics, name: str) -> dict[str, float]:
    """The finite statistics of the values, if there are any. `name`: of a figure, with `{}` for the statistic's."""
    if not values:
        return {}
    array = np.array(values, float)
    with np.errstate(all="ignore"):
        found = {name.format(each): float(statistic(array)) for each, statistic in wanted.items()}
    return {each: value for each, value in found.items() if math.isfinite(value)}


def _deviation(values: Floats) -> float:
    """The standard deviation of a sample; 0 for one value."""
    return float(np.std(values, ddof=int(len(values) > 1)))


def _standard_error(values: Floats) -> float:
    return _deviation(values) / math.sqrt(len(values))


def _end_of_interval(values: Floats, side: int) -> float:
    """The lower or upper end of the mean's 95 % interval by Student's t; NaN for one value."""
    n = len(values)
    return float(np.mean(values)) + side * t95(n - 1) * _standard_error(values) if n > 1 else math.nan


def _percentile(q: int) -> Callable[[Floats], float]:
    return partial(np.percentile, q=q)


OF_RATIOS: Final[Statistics] = {"mean": np.mean, "median": np.median}
OF_TOKENS: Final[Statistics] = {**OF_RATIOS, "total": np.sum}
OF_SAMPLE: Final[Statistics] = {**OF_RATIOS, "std": _deviation, "min": np.min, "max": np.max}
OF_TURNS: Final[Statistics] = {**OF_SAMPLE, "std": np.std, "p90": _percentile(90)}
OF_LATENCY: Final[Statistics] = {"mean": np.mean, **{f"p{q}": _percentile(q) for q in (50, 90, 99)}}
_INTERVAL: Final[Statistics] = {
    "ci_low_95": partial(_end_of_interval, side=-1),
    "ci_high_95": partial(_end_of_interval, side=1),
}
OF_REPEATS: Final[Statistics] = {**OF_SAMPLE, "se": _standard_error, **_INTERVAL}
OF_A_REPEAT: Final[Statistics] = {
    **OF_SAMPLE, "sem": _standard_error, **_INTERVAL, "p25": _percentile(25), "p75": _percentile(75),
}  # fmt: skip


@lru_cache(maxsize=1024)
def t95(degrees: int) -> float:
    """Student's t with P(|T| < t) = 0.95 for `degrees` of freedom, 1 or more, without SciPy.

    By bisection: the probability rises with the angle arctan(t / sqrt(degrees)).
    """
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
