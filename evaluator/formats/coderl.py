"""CodeRL's generated solutions of APPS with their results. A file has those of one task, after which it is named."""

from __future__ import annotations

from pathlib import PurePath

from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Recorded, Rollouts, claims
from evaluator.model import Kind, Verdict

_RESULTS = {True: Verdict.PASSED, False: Verdict.WRONG_ANSWER, -1: Verdict.RUNTIME_ERROR, -2: Verdict.COMPILE_ERROR}
_TIMEOUT = "timeoutexception"


def _grade(fields: Fields) -> Recorded | None:
    result, word = fields.get("result"), str(fields.get("error_type") or fields.get("result"))
    if not isinstance(result, int) or result not in _RESULTS:
        return None
    return Recorded(Verdict.TIME_LIMIT if _TIMEOUT in word.lower() else _RESULTS[result], word)


FORMAT = Format(
    name="coderl",
    title="CodeRL: solutions of APPS with code, result, error_type",
    rollouts=Rollouts(
        claim=claims("3: code, result, error_type"),
        completion="code",
        prompt="",
        sample_id="",
        kind=Kind.FULL,
        grade=_grade,
        by="CodeRL",
        left_out="code, result, error_type",
    ),
    from_name=lambda path: {"task_id": PurePath(path).name.partition(".")[0]},
)
