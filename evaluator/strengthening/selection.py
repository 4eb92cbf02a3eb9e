"""Chooses the inputs to add: the fewest that show every wrong program found, and then those that tell most apart."""

from __future__ import annotations

from collections.abc import Sequence
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
    places = list(chosen)
    seen: dict[int, int] = {}
    kinds: dict[str, int] = {}
    for place in places:
        _note(candidates[place], seen, kinds)
    left = set(range(len(candidates))) - set(places)
    while left and len(places) < most:
        worth, place = max((_worth(candidates[each], seen, kinds), each) for each in left)
        if worth <= 0:
            break
        places.append(place)
        left.discard(place)
        _note(candidates[place], seen, kinds)
    return places


def _note(candidate: Candidate, seen: dict[int, int], kinds: dict[str, int]) -> None:
    for each in candidate.kills:
        seen[each] = seen.get(each, 0) + 1
    for kind in candidate.kinds:
        kinds[kind] = kinds.get(kind, 0) + 1


def _worth(candidate: Candidate, seen: dict[int, int], kinds: dict[str, int]) -> float:
    noticed = sum(_SEEN ** seen.get(each, 0) for each in candidate.kills)
    special = sum(_NEW_KIND ** (1 + kinds.get(kind, 0)) for kind in candidate.kinds)
    return noticed + special - candidate.cost
