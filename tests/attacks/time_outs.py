"""Programs that do not end when they should.

Each outlives an alarm in its own process whose handler raises: it catches what is raised, keeps the signal away, or
sits in a call into C that looks at no signal. None of them ever answers right.
"""

from __future__ import annotations

from tests.attacks import endless_calls, endless_loops
from tests.attacks.corpus import Attack

ATTACKS: list[Attack] = [*endless_loops.ATTACKS, *endless_calls.ATTACKS]
