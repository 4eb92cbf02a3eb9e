"""White space folded: the same tokens in the same order.

A token is a run of characters without white space; how tokens are spread over lines does not count.
"""

from __future__ import annotations

import operator

from evaluator.checkers._text import difference, position, token_spot
from evaluator.model import Difference

COMPARES = "text"


def check(expected: str, actual: str) -> Difference | None:
    """None when both texts have the same tokens; the position is that of the first differing token."""
    if expected == actual:
        return None
    spot = token_spot(expected, actual, operator.eq, "the end of the output")
    if spot is None:
        return None
    line, column = position(actual, spot.offset)
    return difference(line, column, spot.expected, spot.actual)
