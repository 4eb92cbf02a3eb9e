"""Tests as the runner gets them: planned like a task's, or with their own spans and methods."""

from collections.abc import Callable
from typing import Any

import msgspec

from evaluator.model import Mode, Task
from evaluator.sandbox.guest import encode
from evaluator.suites.guest.runner import Runner
from evaluator.suites.reading.plan import plan_suite


def show(value: object) -> str:
    return encode.encode(value, 100_000).decode()


def order(test: str, *, entry_point: str | None = "candidate", **fields: Any) -> dict[str, Any]:
    """The order for a test, with these fields in place of the planned ones."""
    mode = Mode.UNITTEST if "unittest.TestCase" in test else Mode.ASSERT
    if "methods" in fields:
        fields["form"] = "methods"
    planned = plan_suite(Task(task_id="t", mode=mode, test=test, entry_point=entry_point)).suite
    return {**msgspec.structs.asdict(planned), **fields}


def loaded(test: str, candidate: Callable[..., Any] | None = None, **fields: Any) -> Runner:
    """A runner that has loaded the test; `given`: other names of the completion."""
    given = fields.pop("given", {})
    made = order(test, **fields)
    namespace = {"__name__": "check", **given}
    if candidate is not None:
        namespace |= {made["entry_point"]: candidate, "candidate": candidate}
    runner = Runner(made, namespace, show)
    runner.load()
    return runner


def results(test: str, candidate: Callable[..., Any] | None = None, **fields: Any) -> list[dict[str, Any]]:
    """The result of each case, all in one process."""
    runner = loaded(test, candidate, **fields)
    made = order(test, **{key: value for key, value in fields.items() if key != "given"})
    return [runner.run(index) for index in range(len(made["spans"]) or len(made["methods"]))]


def statuses(test: str, candidate: Callable[..., Any] | None = None, **fields: Any) -> list[str]:
    return [result["status"] for result in results(test, candidate, **fields)]
