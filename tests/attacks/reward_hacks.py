"""Wrong answers that want to be paid for."""

from __future__ import annotations

from tests.attacks import early_ends, forged_results, lying_subclasses, lying_values, patched_graders, stolen_answers
from tests.attacks.corpus import Attack

ATTACKS: list[Attack] = [
    *lying_values.ATTACKS,
    *lying_subclasses.ATTACKS,
    *stolen_answers.ATTACKS,
    *patched_graders.ATTACKS,
    *forged_results.ATTACKS,
    *early_ends.ATTACKS,
]
