"""ColossalAI's `utils.check_correctness` on our sandbox. Source: `coati.distributed.reward.code_reward.utils`."""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.graders.colossalai_testing.run import Code, InOutsError
from evaluator.interop.colossalai.modes import is_strict
from evaluator.interop.colossalai.testing_util import report_of
from evaluator.model import JsonValue
from evaluator.sandbox import SandboxUnavailable


def check_correctness(
    in_outs: Mapping[str, JsonValue],
    generation: str | None,
    timeout: float = 10,
    debug: bool = True,
    **unknown: object,
) -> tuple[list[Code], list[dict[str, str]]]:
    """`run_test`, for which test cases that can't be used are -1 each and no error; `run_all_tests` is never asked for.

    Gives the results and a list with their `error_info`, `{}` where `run_test` would have raised. A fault of the
    sandbox is -1 for every test case. Raises `InOutsError` where there is no list of inputs to be counted, `ValueError`
    for a time-out that is none, `SandboxUnavailable`. Within `strict_compat()` a completion that ended the original's
    process (time-out, `sys.exit` in a call, `os._exit`) is -1 for every test case too, and the list is empty.
    `unknown` has no effect: the original's `start_code_verifier.py` passes `eval_mode`.
    """
    del debug, unknown
    every: list[Code] = [-1] * _count(in_outs)
    try:
        report = report_of(in_outs, generation, timeout, run_all=False)
    except SandboxUnavailable:
        raise  # a machine without a sandbox is no failure of the completion
    except InOutsError:
        return every, [{}]
    except Exception:
        if not is_strict():
            raise  # a time-out that is none is no failure of the completion either
        return every, [{}]
    if report.died and is_strict():
        return every, []
    if report.faulty:
        return every, [report.error_info]
    return report.results, [report.error_info]


def _count(in_outs: object) -> int:
    inputs = in_outs.get("inputs") if isinstance(in_outs, Mapping) else None
    if isinstance(inputs, list | tuple):
        return len(inputs)
    told = 'in_outs has no list of inputs: give {"inputs": [...], "outputs": [...]}'
    raise InOutsError(told, KeyError("inputs"))
