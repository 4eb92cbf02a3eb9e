"""What the formats of trainers share: the parts of a reward, conversations, and tests in the rows of rollouts."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping

from evaluator.formats.reading import chat
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.problems import refuse_all
from evaluator.formats.reading.registry import Role, claims_of
from evaluator.formats.reading.spec import Claim, Narrowed, Rollouts, Said, Tasks
from evaluator.formats.tests_alone import COLUMNS, task_from
from evaluator.model import JsonValue, Mode, RecordError, Task, brief

_PART = re.compile(r"reward|score", re.IGNORECASE)
_TYPICAL = 2
_FENCED = re.compile(r"\s*```(?:python|py)?\s*\n(.*?)\n```\s*", re.DOTALL)


def without_fence(text: str) -> str:
    """A solution without the fence that some datasets put around it."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def parts(fields: Fields, taken: Container[str] = ()) -> dict[str, float]:
    """The parts of a reward: the numbers whose names have `reward` or `score` in them."""
    found = ((name, field.number(value)) for name, value in fields.items() if name not in taken and _PART.search(name))
    return {name: value for name, value in found if value is not None}


def conversation(fields: Fields) -> Said:
    """A row's `prompt` and `completion`, each text or messages."""
    if fields.get("completion") is None:
        raise RecordError("completion is missing: add the text or the messages that the model wrote")
    prompt = chat.messages_of(fields.get("prompt"), "prompt", "user")
    return prompt, chat.after_prompt(prompt, chat.messages_of(fields["completion"], "completion", "assistant"))


def objects(value: JsonValue, name: str) -> Iterator[Fields]:
    """The objects of a list. Raises `RecordError` at the end for the elements that are none."""
    if not isinstance(value, list):
        raise RecordError(f"{name} must be a list of objects, not {brief(value)}")
    yield from (item for item in value if isinstance(item, Mapping))
    wrong = ((place, item) for place, item in enumerate(value) if not isinstance(item, Mapping))
    refuse_all(RecordError(f"{name}[{place}] must be an object, not {brief(item)}") for place, item in wrong)


def tests_in(*places: JsonValue) -> JsonValue:
    """The first tests in these objects, by the names that datasets give them; None if there are none.

    A place may be JSON text, or test code.
    """
    return next(filter(_is_tests, _tests(places)), None)


def _is_tests(given: JsonValue) -> bool:
    """Whether a task with test cases can be made of it."""
    try:
        return bool(given) and task_from(given, "task").mode is not Mode.ANSWER
    except RecordError:
        return False


def _tests(places: tuple[JsonValue, ...]) -> Iterator[JsonValue]:
    for place in places:
        try:
            value = field.unpacked({"tests": place}, "tests")
        except RecordError:  # no JSON: test code, or no tests
            yield place
            continue
        if isinstance(value, Mapping):
            yield from (value[name] for name in COLUMNS if value.get(name))
        if isinstance(value, Mapping | list):
            yield value


def task_in(row: JsonValue, source: str, prompt: str = "") -> Task | None:
    """The task of a dataset's row inside another row, or of the tests in that; None if it has none."""
    known = _dataset_task(row)
    tests = tests_in(row) if known is None else None
    return known if tests is None else _task_with(tests, "task", prompt, source)


def _task_with(given: JsonValue, task_id: str, prompt: str, source: str) -> Task:
    """The task of tests in a row. Raises `RecordError`."""
    task = task_from(given, task_id)
    task.prompt = task.prompt or prompt
    task.source = task.source or source
    return task


def tasks_in(rollouts: Rollouts, tests: Callable[[Fields], JsonValue], why: str) -> Tasks:
    """The tasks in rows of rollouts that may have their task's tests too."""

    def claim(fields: Fields) -> Claim | None:
        return Claim(2, why) if tests(fields) is not None else None

    def read(fields: Fields) -> Task:
        given = tests(fields)
        if given is None:
            raise RecordError(
                f"the row has no tests: add {', '.join(COLUMNS[:-1])} or {COLUMNS[-1]}, or name a dataset"
            )
        return _task_with(given, rollouts.task_id_of(fields), rollouts.prompt_of(fields), rollouts.by)

    return Tasks(claim=Narrowed(rollouts.claim, claim), code=read)


def _dataset_task(row: JsonValue) -> Task | None:
    """Read by the dataset's own format; None if no format knows it."""
    claims = claims_of(Role.TASKS, row) if isinstance(row, Mapping) else ()
    if not claims or claims[0].claim.strength < _TYPICAL:
        return None
    try:
        return claims[0].format.tasks.read(row)
    except RecordError:
        return None
