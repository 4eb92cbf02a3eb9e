"""The Audit page: whose checker would have paid, the grades that rollouts came with, flags on what passed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

import streamlit as st

from dashboard import background, controls, facts, sandbox_state, state, widgets
from dashboard.background import Job
from dashboard.components import links
from dashboard.components.links import Card, Count, CountLine
from dashboard.components.links import LetterLine as Line
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import audits
from dashboard.queries.audits import Recorded
from dashboard.state import AGREE, DIFFER, View
from dashboard.text import tables_view
from dashboard.workspace import OpenRun
from evaluator.auditing import Audit, Differing, audit_run, audited_count
from evaluator.checkers import known_checkers
from evaluator.model import Verdict

_PER_PAGE: Final = 100
_DEFAULT: Final = ("floats", "value", "tokens", "livecodebench", "colossalai")
_LETTERS: Final = {1.0: "P", 0.0: "W", None: "?"}
_PATTERNS_SHOWN: Final = 5
_REASONS_SHOWN: Final = 4
_ROOM: Final = 400
_FLAGS_ROOM: Final = 480


# --- Whose checker would have paid ----------------------------------------------------------------


def not_graded(screen: Screen) -> None:
    """What the page needs: it has nothing to show of ungraded rollouts."""
    facts.note(
        "This page shows how other checkers judge the same outputs, how recorded grades compare to ours, and flags. "
        "All of that needs our own grades."
    )
    if screen.run.manifest.dataset:
        state.link("overview", View(run=screen.run.name), "Grade the rollouts")
    else:
        facts.note("To grade them, start the dashboard with --dataset DATASET.jsonl.")


def checkers(screen: Screen) -> None:
    """The choice of checkers, the button that runs the completions again, and what depends on the checker."""
    facts.section("Whose checker would have paid? (the whole run, not filtered)")
    count = audits.comparable(screen.run)
    if not count:
        why = "no task of this run has inputs and expected outputs, and tests that are code judge by themselves"
        facts.note(f"Nothing to compare: {why}.")
        return
    names = _chosen(screen.view)
    job = background.find(*key(screen.run, names))
    _choice(screen, names, job, count)
    if job is not None and job.running:
        background.watch(job)
    elif job is not None and job.failure is not None:
        facts.banner(f"Nothing was compared: {job.failure}", warn=True)
    elif job is not None and isinstance(job.outcome, Audit):
        _result(screen, job, job.outcome)


def key(run: OpenRun, names: tuple[str, ...]) -> tuple[Hashable, ...]:
    """Under which the job of an audit is found."""
    return "audit", str(run.path), run.stamp, names


def start(run: OpenRun, names: tuple[str, ...]) -> None:
    """Begin an audit, unless the same one is running."""

    def work(add: Callable[[None], None], stop: threading.Event) -> Audit:
        return audit_run(run.run, names, on_grade=lambda _: add(None), stop=stop)

    background.start(key(run, names), lambda: Job("Audit", audited_count(run.run), work))


def _chosen(view: View) -> tuple[str, ...]:
    """The checkers in the address; without any that are known, the usual ones."""
    named = dict.fromkeys(name for name in view.graders.split(",") if name in known_checkers())
    return tuple(named) or _DEFAULT


def _choice(screen: Screen, names: tuple[str, ...], job: Job[None] | None, count: int) -> None:
    refusal = sandbox_state.refusal()
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        widgets.show("multiselect", "w_checkers", list(names), _choose, "Checkers", list(known_checkers()))
    running = job is not None and job.running
    label = "Audit again" if job is not None and not running else f"Audit {counted(count, 'rollout')}"
    off = refusal is not None or running or len(names) < 2
    with right:
        widgets.button(label, "audit", _start, screen, names, type="secondary" if job else "primary", disabled=off,
                       width="stretch")  # fmt: skip
    if refusal:
        facts.banner(refusal, warn=True)
    elif len(names) < 2:
        facts.note("Choose two checkers or more.")
    elif job is None:
        facts.note("Every checker judges the same answers: the stored ones, or those of one more run.")


def _start(screen: Screen, names: tuple[str, ...]) -> None:
    if sandbox_state.refusal() is None:  # the browser decides whether a button is disabled
        start(screen.run, names)


def _choose(view: View, names: list[str]) -> View:
    return view.but(graders=",".join(names), view="", page=1)


def _result(screen: Screen, job: Job[None], report: Audit) -> None:
    if job.stopping:
        facts.banner(f"Stopped at {report.rollouts:,} of {counted(job.total, 'rollout')}.", warn=True)
    facts.line([(each.checker, _share(each.passed, each.compared)) for each in report.checkers])
    shown = _patterns(screen.view, report)
    _differing(screen, report, shown)
    reasons = Counter(report.not_compared).most_common()
    for why, count in reasons[:_REASONS_SHOWN]:
        facts.note(f"Not compared: {count:,}: {why}")
    if others := reasons[_REASONS_SHOWN:]:
        facts.note(f"Not compared: {sum(count for _, count in others):,} for other reasons.")


def _share(part: int, whole: int) -> str:
    return f"pays {part:,} of {whole:,} ({part / whole:.1%})" if whole else "compares none"


def _paying(each: Differing) -> str:
    return ",".join(name for name, reward in each.rewards.items() if reward == 1.0)


def _patterns(view: View, report: Audit) -> list[Differing]:
    """The counts by who pays, of which one can be chosen. Returns its rollouts."""
    counts = Counter(map(_paying, report.differing))
    shown = [pattern for pattern, _ in counts.most_common(_PATTERNS_SHOWN)]
    current = view.view if view.view in counts else ""
    if current and current not in shown:
        shown.append(current)
    labels = {"": f"depend on the checker: {report.differ:,} of {report.compared:,}"}
    labels |= {pattern: f"paid by {pattern.replace(',', ', ')}: {counts[pattern]:,}" for pattern in shown}
    widgets.choice("Who pays", labels, view, key="w_paying", page=1)
    return [each for each in report.differing if not current or _paying(each) == current]


def _differing(screen: Screen, report: Audit, found: list[Differing]) -> None:
    if not found:
        return
    view, names = screen.view, [each.checker for each in report.checkers]
    page = controls.page_of(view, len(found), _PER_PAGE)
    listed = found[(page - 1) * _PER_PAGE : page * _PER_PAGE]
    own = audits.own_letters(screen.run, [(each.task_id, each.sample_id) for each in listed])
    lines = [
        Line(
            _name(each),
            (own.get((each.task_id, each.sample_id), "?"), *(_LETTERS[each.rewards[name]] for name in names)),
            _why_not(each),
            state.href("completion", _completion(view, each)),
        )
        for each in listed
    ]
    links.letter_table(
        lines,
        key="audit_rows",
        head=("rollout", "run", *names, "why not"),
        room=_ROOM,
        wide=True,
    )
    controls.pager(view, len(found), _PER_PAGE, "rollouts")


def _name(each: Differing) -> str:
    """The sample; and its task, unless the sample's id says that already."""
    last = each.task_id.rsplit("/", 1)[-1]
    return each.sample_id if last in each.sample_id else f"{each.task_id} {each.sample_id}"


def _completion(view: View, each: Differing) -> View:
    return View(run=view.run, task=each.task_id, sample=each.sample_id, up=view.below("audit"))


def _why_not(each: Differing) -> str:
    name, why = next((name, why) for name, why in each.reasons.items() if each.rewards[name] == 0.0)
    return f"{name}: {' '.join(why.split())}"


# --- The rewards that rollouts came with, and flags -----------------------------------------------


def given(screen: Screen) -> None:
    """The given rewards against ours: how many are the same, higher and lower, and by verdict."""
    facts.section("The reward it came with, against ours")
    found = audits.given_counts(screen.run, screen.view.filter)
    if not found.given:
        facts.note("No rollout in the filter came with a reward, such as a given_reward in its row.")
        return
    here = screen.view.place()
    counts = {"same": found.same, "higher": found.higher, "lower": found.lower}
    links.cards([_card(name, n, found.given, f"{n:,}", here.but(given=name)) for name, n in counts.items()])
    if found.without_own:
        facts.note(f"{counted(found.without_own, 'rollout')} with a given reward not graded here.")
    st.html(tables_view.confusion(audits.given_by_verdict(screen.run, screen.view.filter)))


def flags(screen: Screen) -> None:
    """Flags that no honest program needs, on rollouts that passed."""
    run, filter_ = screen.run, screen.view.filter
    passed = audits.passed_count(run, filter_)
    facts.section(f"Flags of {counted(passed, 'passed rollout')} (click for them)")
    found = audits.cheating_flags(run, filter_)
    if not found:
        facts.note("None: no rollout in the filter has a flag that an honest program does not need.")
        return
    here = screen.view.place()
    lines = []
    for each in found:
        said = f"{each.passed:,} passed ({_percent(each.passed, passed)}) of {each.rollouts:,}"
        target = here.but(flag=each.name, verdicts=("passed",) if each.passed else here.filter.verdicts)
        lines.append(Line(each.name, (), f"{said} · {counted(each.tasks, 'task')}", state.href("rollouts", target)))
    links.letter_table(lines, key="audit_flags", head=("flag", "rollouts with it"), room=_FLAGS_ROOM)


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


_WORDS = tuple(verdict.value for verdict in Verdict)
_NOT_FAILING = (Verdict.PASSED, Verdict.SANDBOX_ERROR)


def recorded(screen: Screen) -> None:
    """On how many the recorded verdicts and ours agree, and the counts by both."""
    facts.section("The verdict it came with, against ours (click for the rollouts)")
    found = audits.recorded(screen.run, screen.view.filter)
    if not found.by_verdict:
        facts.note("No rollout in the filter came with a verdict, such as a recorded_verdict in its row.")
        return
    here = screen.view.place()
    links.cards(_agreement(here, found), key="recorded_cards")
    columns = [word for word in _WORDS if any(own == word for _, own in found.by_verdict)]
    makers = {word: ", ".join(found.makers[word]) for word in _WORDS if word in found.makers}
    several = len(set(makers.values())) > 1
    lines = [_recorded_line(here, found, word, columns, maker if several else "") for word, maker in makers.items()]
    links.count_table(lines, columns, key="recorded_table", corner="recorded")
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


def _recorded_line(here: View, found: Recorded, word: str, columns: list[str], maker: str) -> CountLine:
    """The rollouts with one recorded verdict, by ours."""
    counts = [Count(found.by_verdict.get((word, own), 0), here.but(recorded=word, verdicts=(own,))) for own in columns]
    whole = Count(sum(count.rollouts for count in counts), here.but(recorded=word))
    return CountLine(word, maker, [*counts, whole])
