"""How far it is, as a line says it."""

import re

from evaluator.commands.progress import Meter


def line(total: int | None, counted: list[float | None], failed: int = 0) -> str:
    """The line after so much, each rate and time left as `#`."""
    meter = Meter(total)
    for value in counted:
        meter.count(value)
    for _ in range(failed):
        meter.count_failure()
    return re.sub(r"[\d,.]+/s|[\d:]+ left", lambda found: re.sub(r"[\d,.:]+", "#", found[0]), meter.line())


def test_a_line_has_what_is_known() -> None:
    assert line(2000, []) == "0 of 2,000 graded, #/s, 0% passed"
    assert line(2000, [1, 0, None]) == "3 of 2,000 graded, #/s, 50% passed, # left"
    assert line(5, [1], failed=2) == "1 of 5 graded, #/s, 2 failed, 100% passed, # left"


def test_a_total_that_is_not_known_or_was_too_low_is_not_in_it() -> None:
    assert line(None, [1]) == "1 graded, #/s, 100% passed"
    assert line(1, [1, 1]) == "2 graded, #/s, 100% passed"


def test_no_time_left_is_said_while_slow_ones_hold_everything_up() -> None:
    meter = Meter(10)
    meter.count(1)
    assert [" left" in meter.line() for _ in range(2)] == [True, False]
