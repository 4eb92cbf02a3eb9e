"""What the words on the pages mean: one sentence each, shown on hover, and where the documentation says more."""

from __future__ import annotations

from typing import Final, NamedTuple

from evaluator.model import Verdict


class Meaning(NamedTuple):
    """A sentence; `doc` is a file of `docs/` without its ending, perhaps with the anchor of a heading."""

    sentence: str
    doc: str = ""


NOT_GRADED: Final = "not graded"
"""What a rollout is called that came without a verdict, and that nothing has graded here."""

_FOLLOWS: Final = "verdicts#what-follows-from-them"

VERDICTS: Final[dict[Verdict, str]] = {
    Verdict.PASSED: "every test case gave what is expected",
    Verdict.WRONG_ANSWER: "it ran, and its answer differs from what is expected",
    Verdict.RUNTIME_ERROR: "it raised an exception or crashed while a test case ran",
    Verdict.COMPILE_ERROR: "it does not parse, raises while it is loaded, or lacks a name that the test needs",
    Verdict.TIME_LIMIT: "it was stopped at its time limit",
    Verdict.MEMORY_LIMIT: "it was stopped at its memory limit",
    Verdict.OUTPUT_LIMIT: "the program printed more than its output limit",
    Verdict.NO_CODE: "no code or answer was found in the completion",
    Verdict.REJECTED: "the program broke the sandbox's protocol, or tampered with it",
    Verdict.SANDBOX_ERROR: "the sandbox failed, which is not the completion's fault, so it has no reward",
    Verdict.UNKNOWN: "it could not be graded, so it has no reward",
    Verdict.NOT_RUN: "not run, as an earlier test case failed or timed out",
}

_MEANINGS: Final[dict[str, Meaning]] = {
    "rollouts": Meaning("Sampled responses in the filter, each with a grade of its own."),
    "tasks": Meaning("Different tasks that these rollouts answer."),
    "pass@1": Meaning(
        "The chance that one sample of a task passes, averaged over the tasks, with its 95% interval.", "compare"
    ),
    "mean reward": Meaning("Over the rollouts that have a reward: one that could not be graded has none.", _FOLLOWS),
    "no signal": Meaning(
        "Groups (one prompt, model and step) in which all rewards are equal: training learns nothing from them.",
        "dashboard",
    ),
    "unknown": Meaning("They could not be graded, so they have no reward and count in no mean.", "verdicts"),
    "sandbox_error": Meaning(
        "The machine failed, not the completion. They have no reward; grade them again with --only sandbox_error.",
        "verdicts",
    ),
    "not verified": Meaning(
        "The completion ran in the same process as its test, or decided it, and could have faked its result.",
        "checks#verified-and-unverified-grades",
    ),
    "disagree": Meaning(
        "The test fails with the completion in a process of its own and passes in one process with it.",
        "checks#which-run-decides",
    ),
    "not graded": Meaning("All of them have a grade.", "verdicts"),
    "reward differs": Meaning("They came with another reward than ours.", "audit"),
    "verdict differs": Meaning("They came with another verdict than ours: one passed, the other did not.", "audit"),
    "without a verdict": Meaning("They came without a grade, and nothing has graded them here."),
    "same": Meaning("The reward that they came with equals ours.", "audit"),
    "higher": Meaning("They came with a higher reward than ours: another grader paid for them.", "audit"),
    "lower": Meaning("They came with a lower reward than ours: another grader refused them.", "audit"),
    "agree": Meaning("The recorded verdict and ours both say passed, or both say not passed.", "audit"),
    "only recorded passed": Meaning("They passed where they were recorded, and fail here.", "audit"),
    "only ours passed": Meaning("They failed where they were recorded, and pass here.", "audit"),
}

NAMES: Final = tuple(_MEANINGS)
"""The figures that are explained."""


def of(name: str) -> Meaning:
    """The meaning of a figure's name; what stands behind a comma, such as a number of models, does not count."""
    return _MEANINGS.get(name.partition(",")[0], Meaning(""))


def word(verdict: Verdict, *, recorded: bool = False) -> str:
    """The verdict's word. `recorded`: on a page of rollouts that are not graded, `unknown` is called so."""
    return NOT_GRADED if recorded and verdict is Verdict.UNKNOWN else verdict.value


def explained(verdict: Verdict, *, recorded: bool = False, verified: bool = True) -> str:
    """The verdict's word with its sentence, for a tooltip."""
    if recorded and verdict is Verdict.UNKNOWN:
        return f"{NOT_GRADED}: it came without a verdict, and nothing has graded it here"
    return f"{verdict.value}: {VERDICTS[verdict]}" + (
        "" if verified else f". Not verified: {of('not verified').sentence}"
    )
