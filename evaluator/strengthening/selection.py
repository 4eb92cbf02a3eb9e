"""Chooses the inputs to add: the fewest that show every wrong program found, and then those that tell most apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

_SEEN: Final = 0.7
"""How much each further input that notices a mutant is worth, of the one before."""
_NEW_KIND: Final = 0.5


class Candidate(NamedTuple):
    """A valid input, as far as choosing is concerned."""

    kills: frozenset[int]
    """The wrong programs that it shows."""
    size: int
    kinds: frozenset[str]
    """What is special about it: how it departs from the own inputs, and its answer's kind."""
    cost: float = 0.0
    """How much less it is worth because it is less sure."""


def cover(candidates: Sequence[Candidate], wanted: frozenset[int]) -> list[int]:
    """The places of few candidates that together show every wanted program that any shows: greedily the most first.

    Among equals the surest and then the smallest one.
    """
    left = set(wanted)
    chosen: list[int] = []
    while left:
        gain, _, _, place = max(
            ((len(left & each.kills), -each.cost, -each.size, -place) for place, each in enumerate(candidates)),
            default=(0, 0.0, 0, 0),
        )
        if not gain:
            break
        chosen.append(-place)
        left -= candidates[-place].kills
    return chosen


def fill(candidates: Sequence[Candidate], chosen: Sequence[int], most: int) -> list[int]:
    """The chosen places and more, up to `most`, that notice mutants in other combinations, or are of other kinds.

    Among equals the last one: a large input shows more than a small one.
    """
    seen: Counter[int | str] = Counter()
    for place in chosen:
        seen.update([*candidates[place].kills, *candidates[place].kinds])

    def worth(place: int) -> float:
        each = candidates[place]
        noticed = sum(_SEEN ** seen[kill] for kill in each.kills)
        return noticed + sum(_NEW_KIND ** (1 + seen[kind]) for kind in each.kinds) - each.cost

    places = list(chosen)
    left = [(-worth(place), -place) for place in set(range(len(candidates))).difference(places)]
    heapify(left)
    while left and len(places) < most:
        place = -heappop(left)[1]
        now = (-worth(place), -place)  # each choice makes the others worth less, never more
        if left and now > left[0]:
            heappush(left, now)
        elif now[0] >= 0:
            break
        else:
            places.append(place)
            seen.update([*candidates[place].kills, *candidates[place].kinds])
    return places
