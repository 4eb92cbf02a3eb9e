"""What a look at a task shows to be odd, before anything is run."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.graders._plans import plan_for
from evaluator.graders.check_plan import CheckPlan, notes_on
from evaluator.graders.ungradable import UngradableError
from evaluator.model import Mode, Task


def look_at(task: Task) -> Iterator[str]:
    """One line for each thing. Raises nothing."""
    try:
        plan = plan_for(task, None)
    except UngradableError as error:
        yield f"can't be graded: {error}"
        return
    if isinstance(plan, CheckPlan) and plan.same_process is not None:
        yield f"its grades are not verified: {plan.same_process}"
    if task.mode in (Mode.ASSERT, Mode.UNITTEST):
        yield from notes_on(task)
