"""SandboxFusion's results (`EvalResult`): `id`, `accepted`, `extracted_code`, `tests` with `passed` and `exec_info`.

The completion is the code that it extracted, unless the row has the text as `completion`. The verdict is that of the
first test that did not pass.
"""

from __future__ import annotations

from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, claims, verdict_of_error
from evaluator.model import JsonValue, Kind, Verdict


def _more(fields: Fields) -> dict[str, JsonValue]:
    """What the result has nothing for; and the extracted code, where it is not the completion."""
    nothing = {name: None for name, value in fields.items() if value is None}
    text, code = fields.get("completion"), fields.get("extracted_code")
    other = isinstance(text, str) and isinstance(code, str) and code not in text
    return {**nothing, "extracted_code": code} if other else nothing


def _grade(fields: Fields) -> Recorded | None:
    accepted = field.optional_truth(fields, "accepted")
    if accepted or accepted is None:
        return Recorded(Verdict.PASSED, "accepted") if accepted else None
    tests = fields.get("tests")
    listed = tests if isinstance(tests, list) else []
    failing = next((test for test in listed if isinstance(test, dict) and test.get("passed") is not True), None)
    if failing is None:
        return Recorded(Verdict.WRONG_ANSWER if fields.get("extracted_code") else Verdict.NO_CODE, "not accepted")
    info = field.inner(failing, "exec_info")
    words = [info.get("status"), *(field.inner(info, name).get("status") for name in ("compile_result", "run_result"))]
    return Recorded(_verdict(info), ", ".join(str(word) for word in words if word) or "not accepted")


def _verdict(info: Fields) -> Verdict:
    """Of how one test ran. The sandbox says `Failed` for a time limit or an exit status that is not 0."""
    if info.get("status") == "SandboxError":
        return Verdict.SANDBOX_ERROR
    compiled, run = field.inner(info, "compile_result"), field.inner(info, "run_result")
    if _stopped(compiled):
        return Verdict.COMPILE_ERROR
    if run.get("status") == "TimeLimitExceeded":
        return Verdict.TIME_LIMIT
    if not _stopped(run):
        return Verdict.WRONG_ANSWER
    stderr = run.get("stderr")
    return verdict_of_error(stderr) if isinstance(stderr, str) else Verdict.RUNTIME_ERROR


def _stopped(result: Fields) -> bool:
    return result.get("status") == "TimeLimitExceeded" or bool(result.get("return_code"))


FORMAT = Format(
    name="sandbox_fusion",
    title="SandboxFusion's results: id, accepted, extracted_code, tests",
    rollouts=Rollouts(
        claim=claims("3: id, accepted, extracted_code+tests"),
        completion="completion|extracted_code",
        task_id="id",
        prompt="",
        kind=lambda fields: None if isinstance(fields.get("completion"), str) else Kind.FULL,
        passed="accepted",
        grade=_grade,
        by="SandboxFusion",
        metadata=_more,
    ),
)
