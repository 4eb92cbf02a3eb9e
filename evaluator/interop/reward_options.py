"""The options of a reward function, from the keywords in a trainer's script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Unpack

from evaluator.model import Limits, limits_from
from evaluator.options import Given, Options, options_of

SHARE: Final = "tests:reward=fraction"
"""The grader whose reward is the share of tests that passed."""

LimitsLike = Limits | Mapping[str, float] | None
"""`evaluator.Limits`, some of its fields, such as `{"wall_s": 5}`, or None for its defaults."""


def reward_options(limits: LimitsLike, /, *, continuous: bool = False, **given: Unpack[Given]) -> Options:
    """`continuous`: reward the share of tests that passed. Raises `RecordError` for bad limits."""
    known = limits if isinstance(limits, Limits) else limits_from(limits or {})
    return options_of(Options(limits=known, grader=SHARE if continuous else "tests"), given)
