"""The grade that a rollout came with: verdict, reward and reason, from its own fields alone.

What lists rollouts and the `stored` grader both use this, so it is quick: it neither extracts code nor parses texts.

The verdict:

1. `recorded_verdict`, which the file's format read in its source's words;
2. else `verdict` in the metadata, if it is one of ours, and has a reward if the rollout has one;
3. else that of the first failing test case, if the rollout lists its test cases: by our server's letters
   (`test_verdicts`), or by the codes of LiveCodeBench's grader and NeMo Gym's code_gen (`result`: see `CODES`);
4. else `passed` for a reward of 1 or more, `wrong_answer` below;
5. else `passed` or `wrong_answer` by `expected_pass`; without that `unknown`.

The reward is `given_reward`, unchanged, else 1.0 or 0.0 by the recorded verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from evaluator.model import JsonValue, Rollout, Verdict

UNVERIFIED: Final = "the grade is the one that it came with: nothing was run"
"""Why no such grade is verified."""

CODES: Final[Mapping[int, Verdict]] = {
    -1: Verdict.TIME_LIMIT,
    -2: Verdict.WRONG_ANSWER,
    -3: Verdict.TIME_LIMIT,
    -4: Verdict.RUNTIME_ERROR,
    -5: Verdict.SANDBOX_ERROR,
}
"""-1 is "out of the time for all test cases", or killed; -5 that the grader itself failed."""
_NO_REWARD: Final = "the rollout came without a reward"
_FULL_REWARD: Final = 1.0
_LETTERS: Final = {verdict.letter: verdict for verdict in Verdict}
_VERDICTS: Final = {str(verdict): verdict for verdict in Verdict}
_NO_WORDS: Final = {"", "none"}
"""What some servers write if there is no reason."""


def recorded_grade(rollout: Rollout) -> tuple[Verdict, float | None, str | None]:
    """Its verdict, its reward and, if it did not pass, why (the source's text, however long).

    >>> from evaluator.model import Rollout, Verdict
    >>> slow = Rollout(task_id="t", completion="", recorded_verdict=Verdict.TIME_LIMIT, recorded_word="timed out")
    >>> recorded_grade(slow)
    (<Verdict.TIME_LIMIT: 'time_limit'>, 0.0, 'timed out')

    The reward is None if the verdict is one that allows none; one that is not finite is returned as it is.
    """
    verdict, reward = rollout.recorded_verdict, rollout.given_reward
    if verdict is None and reward is None and rollout.expected_pass is not None and "verdict" not in rollout.metadata:
        verdict = Verdict.PASSED if rollout.expected_pass else Verdict.WRONG_ANSWER
    if verdict is None:
        verdict = _verdict(rollout.metadata, reward)
    elif not verdict.graded:
        reward = None
    elif reward is None:
        reward = _FULL_REWARD if verdict is Verdict.PASSED else 0.0
    if verdict is Verdict.PASSED:
        return verdict, reward, None
    return verdict, reward, _message(rollout) or (_NO_REWARD if reward is None else None)


def _verdict(metadata: Mapping[str, JsonValue], reward: float | None) -> Verdict:
    word = metadata.get("verdict")
    own = _VERDICTS.get(word) if isinstance(word, str) else None
    if own is not None and own.graded is (reward is not None):
        return own
    if reward is None:
        return Verdict.UNKNOWN
    verdicts = case_verdicts(metadata)
    failing = first_failure(verdicts)
    if failing is not None and failing.graded and failing is not Verdict.NOT_RUN:
        return failing
    all_passed = bool(verdicts) and failing is None
    return Verdict.PASSED if all_passed or reward >= _FULL_REWARD else Verdict.WRONG_ANSWER


def case_verdicts(metadata: Mapping[str, JsonValue]) -> list[Verdict]:
    """One per test case; none if the rollout lists none, or uses unknown letters or codes."""
    letters, codes = metadata.get("test_verdicts"), metadata.get("result")
    if isinstance(letters, str) and letters and set(letters) <= _LETTERS.keys():
        return [_LETTERS[letter] for letter in letters]
    verdicts = [verdict_of_code(code) for code in codes] if isinstance(codes, list) else []
    known = [verdict for verdict in verdicts if verdict is not None]
    return known if len(known) == len(verdicts) else []


def verdict_of_code(code: JsonValue) -> Verdict | None:
    """What LiveCodeBench's grader says of a test case: true, false or one of `CODES`."""
    if isinstance(code, bool):
        return Verdict.PASSED if code else Verdict.WRONG_ANSWER
    return CODES.get(code) if isinstance(code, int) else None


def first_failure(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The first that is not `passed`."""
    return next((verdict for verdict in verdicts if verdict is not Verdict.PASSED), None)


def error_account(metadata: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """What LiveCodeBench's grader, code_gen or ColossalAI's says about the first failure; empty if nothing."""
    account = metadata.get("metadata")
    if isinstance(account, Mapping) and "error_code" in account:
        return account
    account = metadata.get("test_metadata")
    return account if isinstance(account, Mapping) else {}


def _message(rollout: Rollout) -> str | None:
    metadata, account = rollout.metadata, error_account(rollout.metadata)
    texts = (
        metadata.get("error_message"),
        account.get("error_message"),
        account.get("error"),
        metadata.get("failure_reason"),
        rollout.recorded_word,
    )
    return next((text for text in texts if isinstance(text, str) and text.lower() not in _NO_WORDS), None)
