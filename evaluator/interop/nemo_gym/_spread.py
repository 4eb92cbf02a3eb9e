"""Mean and spread of numbers. Results that are not finite (a sum beyond the floats' range) are left out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evaluator.interop.nemo_gym.student_t import t95

Figures = dict[str, float]


def described(values: Sequence[float], rows: int) -> Figures:
    """`mean`, `max`, `min`, `median`, `std` of the values (at least one) in `rows` rows.

    `std` is the sample's: 0 for one row, and left out for one value in several rows.
    """
    figures = {"mean": mean_of(values), "max": max(values), "min": min(values), "median": quantile(values, 0.5)}
    if len(values) > 1 or rows == 1:
        figures["std"] = _deviation_of_sample(values)
    return finite_of(figures)


def spread(values: Sequence[float], error: str) -> Figures:
    """`mean`, `median`, `std`, `min`, `max`, the standard error of the mean as `error`, and for two or more values its
    95 % interval by Student's t, `ci_low_95` and `ci_high_95`."""
    n = len(values)
    mean, std = mean_of(values), _deviation_of_sample(values)
    standard_error = std / math.sqrt(n)
    figures = {
        "mean": mean,
        "median": quantile(values, 0.5),
        "std": std,
        "min": min(values),
        "max": max(values),
        error: standard_error,
    }
    if n > 1:
        half = t95(n - 1) * standard_error
        figures |= {"ci_low_95": mean - half, "ci_high_95": mean + half}
    return finite_of(figures)


def quartiles(values: Sequence[float]) -> Figures:
    """`p25` and `p75`, interpolated."""
    return finite_of({"p25": quantile(values, 0.25), "p75": quantile(values, 0.75)})


def mean_of(values: Sequence[float]) -> float:
    """Infinite if the sum is beyond the floats' range."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.inf


def deviation_of(values: Sequence[float]) -> float:
    """The standard deviation of a whole population."""
    return math.sqrt(_squares(values) / len(values))


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies, interpolated."""
    in_order = sorted(values)
    place = (len(in_order) - 1) * share
    below = math.floor(place)
    low, high = in_order[below], in_order[math.ceil(place)]
    return low + (high - low) * (place - below)


def finite_of(figures: Figures) -> Figures:
    """The finite ones."""
    return {name: value for name, value in figures.items() if math.isfinite(value)}


def _deviation_of_sample(values: Sequence[float]) -> float:
    return math.sqrt(_squares(values) / (len(values) - 1)) if len(values) > 1 else 0.0


def _squares(values: Sequence[float]) -> float:
    mean = mean_of(values)
    return sum((value - mean) * (value - mean) for value in values)
