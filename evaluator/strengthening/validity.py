"""The new inputs of a task that count: like its own ones, within what its prompt says, and answered twice alike."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from random import Random
from typing import Any, Final

from evaluator.strengthening.bounds import bounds_in
from evaluator.strengthening.inputs import Maker, constants_of, size_of
from evaluator.strengthening.profile import Arguments, Profile, is_near, traits
from evaluator.strengthening.runs import Answer, How, Input, Runs
from evaluator.strengthening.subjects import Subject, shown_in_prompt
from evaluator.syntax import tree_of

_BOUNDARIES, _FRESH, _EDITED = 400, 250, 250
"""Inputs per round."""
_ROUNDS: Final = 6
_MOST: Final = 800
_AT_ONCE: Final = 100
_SHARE_LEFT: Final = 0.6
"""Of the budget, for the programs."""
_POOL: Final = 200
_PARSED_COMPLETIONS: Final = 8
_SETS: Final = re.compile(r"\b(?:frozen)?set\(|\.intersection\(|\.union\(|\.(?:symmetric_)?difference\(")

_SORTS: Final = re.compile(r"\bsorted\(|\.sort\(")


class Validity:
    """Decides about the inputs of one task. `oracle`: the program that says what is right."""

    def __init__(self, subject: Subject, runs: Runs, oracle: str, wall_s: float) -> None:
        self._subject = subject
        self._runs = runs
        self._oracle = oracle
        self._wall_s = wall_s
        self.profile = Profile([*subject.own, *shown_in_prompt(subject)])
        self._bounds = bounds_in(subject.task.prompt)
        self._names = _parameters(oracle, subject.task.entry_point)
        self._has_sets = _SETS.search(oracle) is not None
        self._sorts = _SORTS.search(oracle) is not None
        self._speed: Counter[tuple[int, str]] = Counter()
        """By argument and its value: how much more often it was too slow for the oracle than not."""
        self.tried = 0

    def new_inputs(self, completions: Sequence[str], budget_s: float, rng: Random) -> list[Input]:
        """Valid inputs, the smallest first."""
        constants = constants_of([self._oracle, *completions[:_PARSED_COMPLETIONS]])
        maker = Maker(self.profile, constants, rng)
        found: list[Input] = []
        for number in range(_ROUNDS):
            if self._runs.left_s <= budget_s * _SHARE_LEFT:
                break
            pool = [*self.profile.own, *(each.arguments for each in found[-_POOL:])]
            found += self.valid(_some(maker, pool, rng, with_boundaries=number == 0), until_s=budget_s * _SHARE_LEFT)
        found.sort(key=lambda each: (size_of(each.arguments), repr(each.arguments)))
        return _varied(found)

    def valid(self, made: Iterable[Arguments], *, until_s: float = 0.0) -> list[Input]:
        """Those of the inputs that are valid, in their order; those tried before only so many seconds are left."""
        found: list[Input] = []
        allowed = filter(None, map(self._allowed, made))
        while self._runs.left_s > until_s and (some := list(islice(allowed, _AT_ONCE))):
            self.tried += len(some)
            once = self._answers([payload for _, payload, _ in some])
            for (arguments, _, _), answer in zip(some, once, strict=True):
                slower = 1 if answer.how is How.LIMIT else -1
                self._speed.update(dict.fromkeys(enumerate(map(repr, arguments)), slower))
            first = [(each, answer) for each, answer in zip(some, once, strict=True) if answer.how is How.VALUE]
            again = self._answers([payload for (_, payload, _), _ in first], other_seed=True)
            found += [
                Input(*each, one.value)
                for (each, one), other in zip(first, again, strict=True)
                if self._is_sure(one, other) and not (each[2] and self._is_unlike_own(one.value))
            ]
        return found

    def _answers(self, payloads: Sequence[bytes], *, other_seed: bool = False) -> list[Answer]:
        return self._runs.answers(self._oracle, payloads, wall_s=self._wall_s, stops=False, other_seed=other_seed)

    def _allowed(self, arguments: Arguments) -> tuple[Arguments, bytes, frozenset[str]] | None:
        departures = self.profile.departures(arguments)
        if not is_near(departures) or departures & self._bounds.refused:
            return None
        if not self._bounds.hold(arguments, self._names):
            return None
        if any(self._speed[each] > 1 for each in enumerate(map(repr, arguments))):
            return None
        try:
            return arguments, self._subject.payload(arguments), departures
        except ValueError:
            return None

    def _is_sure(self, one: Answer, other: Answer) -> bool:
        """Whether every right program would give this answer, as far as two runs can show."""
        if one.how is not How.VALUE or other.how is not How.VALUE or not self._subject.equal(one.value, other.value):
            return False
        return self._subject.is_written(one.value) and not (self._has_sets and _has_order(one.value, self._sorts))

    def _is_unlike_own(self, answer: Any) -> bool:
        """Whether it is empty, as no expected one is: what is right for an odd input then is a matter of taste."""
        expected = [each for each in self._subject.expected if hasattr(each, "__len__")]
        return bool(expected) and all(map(len, expected)) and hasattr(answer, "__len__") and not len(answer)


def _some(maker: Maker, pool: Sequence[Arguments], rng: Random, *, with_boundaries: bool) -> list[Arguments]:
    """In any order, so that all kinds are among the first ones."""
    found = list(islice(maker.boundaries(), 3 * _BOUNDARIES)) if with_boundaries else []
    if len(found) > _BOUNDARIES:
        found = rng.sample(found, _BOUNDARIES)
    found += [*islice(maker.fresh(), _FRESH), *islice(maker.edited(pool), _EDITED)]
    rng.shuffle(found)
    return found


def _varied(inputs: Sequence[Input]) -> list[Input]:
    """At most so many of them, of all kinds as evenly as can be, in their order."""
    if len(inputs) <= _MOST:
        return list(inputs)
    seen: Counter[frozenset[str]] = Counter()
    ranks = []
    for place, each in enumerate(inputs):
        kind = each.departures | traits(each.arguments)
        seen[kind] += 1
        ranks.append((seen[kind], place))
    return [inputs[place] for place in sorted(place for _, place in sorted(ranks)[:_MOST])]


def _parameters(source: str, name: str | None) -> tuple[str, ...]:
    """The names of the function's parameters."""
    tree = tree_of(source)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return tuple(each.arg for each in node.args.args if each.arg != "self")
    return ()


def _has_order(answer: Any, sorts: bool) -> bool:
    """Whether its items may be in the order that a set happened to have. `sorts`: whether the program sorts."""
    if type(answer) not in (list, tuple) or len(set(map(repr, answer))) < 2:
        return False
    try:
        return not sorts or list(answer) not in (sorted(answer), sorted(answer, reverse=True))
    except TypeError:
        return True
