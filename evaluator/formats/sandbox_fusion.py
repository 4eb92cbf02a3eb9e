"""SandboxFusion's results (`EvalResult`): `id`, `accepted`, `extracted_code`, `tests` with `passed` and `exec_info`.

The completion is the code that it extracted, unless the row has the text as `completion`. The verdict is that of the
first test that did not pass.
"""

from __future__ import annotations

from evaluator.formats import fields as field
from evaluator.formats._recorded import Recorded, record, verdict_of_error
from evaluator.formats.registry import Fields, Format, claim_by, one_per_row
from evaluator.model import JsonValue, Kind, RecordError, Rollout, Verdict

_BY = "SandboxFusion"
_TAKEN = {"id", "extracted_code", "completion", "accepted", "model", "sample_id"}


def read_rollout(fields: Fields) -> Rollout:
    """The code of one result. Raises `RecordError` if it has none."""
    text, code = fields.get("completion"), fields.get("extracted_code")
    completion = text if isinstance(text, str) else code
    if not isinstance(completion, str):
        raise RecordError("extracted_code is missing: add the code that was run, or the text as completion")
    accepted = field.optional_truth(fields, "accepted")
    rollout = Rollout(
        task_id=field.identifier(fields, "id"),
        completion=completion,
        sample_id=field.optional_identifier(fields, "sample_id") or "",
        kind=None if completion is text else Kind.FULL,
        model=field.optional_identifier(fields, "model"),
        expected_pass=accepted,
        metadata=field.without(fields, _TAKEN),
    )
    if isinstance(code, str) and code not in completion:
        rollout.metadata["extracted_code"] = code
    return rollout if accepted is None else record(rollout, _grade(fields, code, accepted=accepted))


def _grade(fields: Fields, code: JsonValue, *, accepted: bool) -> Recorded:
    if accepted:
        return Recorded(Verdict.PASSED, "accepted", _BY)
    tests = fields.get("tests")
    listed = tests if isinstance(tests, list) else []
    failing = next((test for test in listed if isinstance(test, dict) and test.get("passed") is not True), None)
    if failing is None:
        return Recorded(Verdict.WRONG_ANSWER if code else Verdict.NO_CODE, "not accepted", _BY)
    info = field.inner(failing, "exec_info")
    words = [info.get("status"), *(field.inner(info, name).get("status") for name in ("compile_result", "run_result"))]
    return Recorded(_verdict(info), ", ".join(str(word) for word in words if word) or "not accepted", _BY)


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
    claim_rollout=claim_by(3, "id, accepted, extracted_code, tests"),
    read_rollouts=one_per_row(read_rollout),
)
