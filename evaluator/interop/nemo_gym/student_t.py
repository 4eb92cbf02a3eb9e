"""The half-width of a 95 % interval in standard errors: Student's t, without SciPy."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

_CONFIDENCE: Final = 0.95
_Z95: Final = 1.959963984540054
"""The normal distribution's, the limit of t for many degrees of freedom."""
_MANY: Final = 300
"""Above it, the expansion's next term is below 1e-11."""
_HALVINGS: Final = 80


@lru_cache(maxsize=1024)
def t95(degrees: int) -> float:
    """The t with P(|T| < t) = 0.95 for `degrees` of freedom, exact to 1e-9. Raises `ValueError` below 1."""
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom: give 1 or more")
    return _expanded(degrees) if degrees > _MANY else _bisected(degrees)


def _bisected(degrees: int) -> float:
    """By bisection: the probability rises with the angle arctan(t / sqrt(degrees))."""
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
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _expanded(degrees: int) -> float:
    """The expansion about the normal distribution, 26.7.5 there."""
    z2 = _Z95 * _Z95
    terms = (
        1.0,
        (z2 + 1) / 4,
        (5 * z2**2 + 16 * z2 + 3) / 96,
        (3 * z2**3 + 19 * z2**2 + 17 * z2 - 15) / 384,
        (79 * z2**4 + 776 * z2**3 + 1482 * z2**2 - 1920 * z2 - 945) / 92160,
    )
    return _Z95 * sum(term / float(degrees) ** power for power, term in enumerate(terms))
