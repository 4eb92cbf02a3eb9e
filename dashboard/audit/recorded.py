"""The Audit page: the verdicts that rollouts came with, against ours."""

from __future__ import annotations

from dashboard import facts
from dashboard.components import cards, count_table
from dashboard.components.cards import Card
from dashboard.components.count_table import Count, Line
from dashboard.controls import Screen
from dashboard.queries import audits
from dashboard.queries.audits import Recorded
from dashboard.state import AGREE, DIFFER, View
from dashboard.wording import counted
from evaluator.model import Verdict

_WORDS = tuple(verdict.value for verdict in Verdict)
_NOT_FAILING = (Verdict.PASSED, Verdict.SANDBOX_ERROR)


def show(screen: Screen) -> None:
    """On how many the recorded verdicts and ours agree, and the counts by both."""
    facts.section("The verdict it came with, against ours (click for the rollouts)")
    found = audits.recorded(screen.run, screen.view.filter)
    if not found.by_verdict:
        facts.note("No rollout in the filter came with a verdict, such as a recorded_verdict in its row.")
        return
    here = screen.view.place()
    cards.show(_agreement(here, found), key="recorded_cards")
    columns = [word for word in _WORDS if any(own == word for _, own in found.by_verdict)]
    makers = {word: ", ".join(found.makers[word]) for word in _WORDS if word in found.makers}
    several = len(set(makers.values())) > 1
    lines = [_line(here, found, word, columns, maker if several else "") for word, maker in makers.items()]
    count_table.show(lines, columns, key="recorded_table", corner="recorded")
    if not several and (maker := next(iter(makers.values()))):
        facts.note(f"Recorded by {maker}.")
    if found.ungraded:
        facts.note(f"{counted(found.ungraded, 'rollout')} with a recorded verdict not graded, there or here.")
    if found.without:
        facts.note(f"{counted(found.without, 'rollout')} without a recorded verdict.")


def _agreement(here: View, found: Recorded) -> list[Card]:
    """Both say passed or both say not, or only one of them says passed."""
    failing = tuple(own for own in _WORDS if own not in _NOT_FAILING and (Verdict.PASSED, own) in found.by_verdict)
    whole = found.both
    return [
        _card("agree", found.agree, whole, f"{found.agree:,} of {whole:,}", here.but(recorded=AGREE)),
        _card(
            "only recorded passed", found.only_recorded, whole, f"{found.only_recorded:,}",
            here.but(recorded=DIFFER, verdicts=failing),
        ),
        _card(
            "only ours passed", found.only_own, whole, f"{found.only_own:,}",
            here.but(recorded=DIFFER, verdicts=(Verdict.PASSED.value,)),
        ),
    ]  # fmt: skip


def _card(name: str, count: int, whole: int, value: str, target: View) -> Card:
    return Card(name, value, f"{count / whole:.1%}" if whole else "", target if count else None)


def _line(here: View, found: Recorded, word: str, columns: list[str], maker: str) -> Line:
    """The rollouts with one recorded verdict, by ours."""
    counts = [Count(found.by_verdict.get((word, own), 0), here.but(recorded=word, verdicts=(own,))) for own in columns]
    whole = Count(sum(count.rollouts for count in counts), here.but(recorded=word))
    return Line(word, maker, [*counts, whole])
