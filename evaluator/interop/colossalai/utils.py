"""ColossalAI's `check_correctness` on Rollscope's sandbox, here or on a server.

Source: `coati.distributed.reward.code_reward.utils`.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from evaluator.graders.colossalai_testing.run import Code, InOutsError
from evaluator.interop.colossalai.testing_util import is_strict, report_of
from evaluator.model import JsonValue
from evaluator.sandbox import SandboxUnavailable

URL: Final = "http://localhost:8000/check_correctness"
"""Where `rollscope serve colossalai` answers by default."""


def check_correctness(
    in_outs: Mapping[str, JsonValue],
    generation: str | None,
    timeout: float = 10,
    debug: bool = True,
    **unknown: object,
) -> tuple[list[Code], list[dict[str, str]]]:
    """`run_test` up to the first failure, but unusable test cases give -1 each instead of an error.

    `in_outs`: as for `run_test`. `generation`: the completion's code. `timeout`: seconds per test case; 0: only the
    600 s for all of them. `debug` and other keywords, such as `eval_mode`, are ignored.

    Returns the results and `[error_info]`; `[{}]` where `run_test` would have raised. A fault of the sandbox gives -1
    for every test case. Within `strict_compat()`, so does a completion that ended the original's process (time-out,
    `sys.exit` in a call, `os._exit`), with an empty second list.

    Raises `InOutsError` if `in_outs` has no list of inputs to count, `ValueError` for a bad `timeout` (within
    `strict_compat()` -1 each), `SandboxUnavailable` if no sandbox starts.

        check_correctness({"inputs": ["1"], "outputs": ["2"]}, "print(int(input()) + 1)")  # ([True], [{}])
    """
    del debug, unknown
    every: list[Code] = [-1] * _count(in_outs)
    try:
        report = report_of(in_outs, generation, timeout, run_all=False)
    except SandboxUnavailable:
        raise  # no completion causes this
    except InOutsError:
        return every, [{}]
    except Exception:
        if not is_strict():
            raise  # a bad time-out, which no completion causes either
        return every, [{}]
    if report.died and is_strict():
        return every, []
    if report.faulty:
        return every, [report.error_info]
    return report.results, [report.error_info]


def check_correctness_code_api(
    in_outs: Mapping[str, JsonValue],
    generation: str | None,
    timeout: float = 10,
    debug: bool = True,
    url: str = URL,
    **unknown: object,
) -> tuple[list[int], list[dict[str, str]]]:
    """`check_correctness` by a server, such as `rollscope serve colossalai` or ColossalAI's verifier, at `url`.

    Takes and returns the same, with 1 for True and 0 for False. A refusal gives -1 each and its reason in
    `error_message`, with `error` "request" for unusable test cases or too large a `timeout` (status 422), else
    "sandbox". Waits for the answer as long as it takes. Raises `ConnectionError` if there is no server, `InOutsError`
    as `check_correctness`.

        check_correctness_code_api({"inputs": ["1"], "outputs": ["1"]}, "print(input())", url=URL)  # ([1], [{}])
    """
    del unknown
    every = [-1] * _count(in_outs)
    sent = {"in_outs": in_outs, "generation": generation, "timeout": timeout, "debug": debug}
    status, body = _posted(url, json.dumps(sent).encode())
    if status == HTTPStatus.OK:
        return body["result"], body["metadata"]
    error = "request" if status == HTTPStatus.UNPROCESSABLE_ENTITY else "sandbox"
    return every, [{"error": error, "error_message": f"{url} answered with status {status}: {body}"}]


def _posted(url: str, body: bytes) -> tuple[int, Any]:
    """The status of the answer; its JSON if it is a success, else its text."""
    request = urllib.request.Request(url, body, {"content-type": "application/json"})  # noqa: S310 - the caller's
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        if refusal.code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
            raise ConnectionError(f"{url} is not a verifier ({refusal}): it ends in /check_correctness") from None
        return refusal.code, refusal.read().decode("utf-8", "replace")
    except urllib.error.URLError as error:
        raise ConnectionError(f"{url}: {error.reason}: is `rollscope serve colossalai` running?") from None


def _count(in_outs: object) -> int:
    inputs = in_outs.get("inputs") if isinstance(in_outs, Mapping) else None
    if isinstance(inputs, list | tuple):
        return len(inputs)
    message = 'in_outs has no list of inputs: give {"inputs": [...], "outputs": [...]}'
    raise InOutsError(message, KeyError("inputs"))
