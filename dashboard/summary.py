"""The Overview's own pieces: the head with its one button, the figures, how the run was graded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import bars, cards, estimates, export, facts, state
from dashboard.cards import Card
from dashboard.controls import Screen
from dashboard.queries import distributions, outcomes
from dashboard.queries.distributions import ModelCount
from dashboard.queries.most import Most
from dashboard.queries.outcomes import Signal, Totals
from dashboard.state import FAILED, View
from dashboard.wording import counted
from dashboard.workspace import OpenRun

_CHECKERS = "value (call), floats (stdin), python (assert), unless the task says"
_CLUSTERS_SHOWN = 12
_FLAGS_SHOWN = 12
_REASONS_SHOWN = 6
_MODELS_SHOWN = 6
_MODELS_LISTED = 20


def head(screen: Screen) -> None:
    """The run's name and files, the button to the first failure, the export."""
    manifest = screen.run.manifest
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        found = [("rollouts", _file(manifest.get("rollouts"))), ("dataset", _file(manifest.get("dataset")))]
        if manifest.get("state") != "finished":
            found.append(("state", str(manifest.get("state", "unknown"))))
        facts.line(found, title=screen.run.name)
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        _first_failure(screen)
        export.offer(screen)


def _first_failure(screen: Screen) -> None:
    found = outcomes.first_failure(screen.run, screen.view.filter)
    target = None
    if found is not None:
        task, sample, test = found
        # J and K then walk the failures; a filter that is there already stays as it is.
        verdicts = screen.view.filter.verdicts or (FAILED,)
        target = screen.view.place().but(task=task, sample=sample, test=test, verdicts=verdicts)
    st.button(
        "Open the first failure" if target else "No failure here",
        type="primary",
        disabled=target is None,
        key="first_failure",
        shortcut="F",
        on_click=state.go,
        args=("completion", target or View()),
    )


def figures(screen: Screen) -> None:
    """Counts and rates of what the filter lets through. Ungraded rollouts are counted apart, never as failures."""
    filter_, here = screen.view.filter, screen.view.place()
    totals = outcomes.totals(screen.run, filter_)
    part = f"of {screen.total:,}" if screen.shown < screen.total else "all"
    cards.show(
        [
            Card("rollouts", f"{totals.rollouts:,}", part, here.but(view="table")),
            Card("tasks", f"{totals.tasks:,}", _per_task(totals), here),
            _pass_at_1(screen),
            Card(f"mean reward{pooled(screen, ', {}')}", facts.number(totals.mean_reward), _rewarded(totals)),
            _signal(outcomes.signal(screen.run, filter_), by_outcome=filter_.by_outcome),
            _ungraded("unknown", totals.unknown, here),
            _ungraded("sandbox_error", totals.sandbox_error, here),
            _unverified(totals, here),
            *_disagreements(totals, here),
        ]
    )


def _rewarded(totals: Totals) -> str:
    """What the mean is over, and where it lies between with the disagreements that have no reward."""
    if totals.mean_low != totals.mean_high:
        return f"{facts.number(totals.mean_low)} to {facts.number(totals.mean_high)} with those that disagree"
    return f"over {totals.rewarded:,} with a reward"


def _disagreements(totals: Totals, here: View) -> list[Card]:
    """Test suites whose two runs disagree; no card where there are none."""
    if not totals.disagreements:
        return []
    return [
        Card(
            "disagree",
            f"{totals.disagreements:,}",
            "fail apart, pass in one process",
            here.but(verified=here.filter.unverified),
        )
    ]


def _pass_at_1(screen: Screen) -> Card:
    if screen.view.filter.by_outcome:
        return Card("pass@1", "–", "filtered by outcome")
    interval = estimates.pass_at_1(screen.run, screen.view.filter)
    if not interval.n:
        return Card("pass@1", "–", "nothing graded")
    note = f"95%: {interval.low:.3f} to {interval.high:.3f}"
    return Card(
        f"pass@1{pooled(screen, ', {}')}",
        facts.number(interval.value),
        note,
        screen.view.place().but(verdicts=("passed",)),
    )


def pooled(screen: Screen, said: str) -> str:
    """What is to be said of a figure over the rollouts of several models; "" where one made them all."""
    total = distributions.models(screen.run, screen.view.filter).total
    return said.format(counted(total, "model")) if total > 1 else ""


def models(screen: Screen) -> None:
    """Each model by itself; nothing where there is one."""
    run, filter_ = screen.run, screen.view.filter
    found = distributions.models(run, filter_, _MODELS_LISTED)
    if found.total < 2:
        return
    facts.section(f"Each model by itself{_of(found, 'model')}: a click shows the rollouts")
    listed = [(each, _of_model(screen, each)) for each in found.rows]
    bars.models(listed[:_MODELS_SHOWN], screen.view)
    if others := listed[_MODELS_SHOWN:]:
        with st.expander(f"{len(others):,} more"):
            bars.models(others, screen.view, key="more_model_bars")


def _of_model(screen: Screen, each: ModelCount) -> str:
    reward = f"reward {facts.number(each.mean_reward)}"
    if screen.view.filter.by_outcome:
        return reward
    interval = estimates.pass_at_1(screen.run, screen.view.filter, each.model)
    return f"pass@1 {facts.number(interval.value)} ({interval.low:.3f} to {interval.high:.3f}), {reward}"


def _of(found: Most[Any], noun: str) -> str:
    part = found.part(noun)
    return f" ({part})" if part else ""


def _signal(signal: Signal, *, by_outcome: bool) -> Card:
    label = "zero-signal groups"
    if by_outcome:
        return Card(label, "–", "filtered by outcome")
    if not signal.groups:
        return Card(label, "–", "one rollout a group")
    note = f"{signal.all_low:,} all fail, {signal.flat - signal.all_low:,} all pass"
    return Card(label, f"{signal.flat / signal.groups:.1%}", note)


def _ungraded(verdict: str, count: int, here: View) -> Card:
    return Card(verdict, f"{count:,}", "no reward", here.but(verdicts=(verdict,)) if count else None)


def _unverified(totals: Totals, here: View) -> Card:
    count, share = totals.unverified, _share(totals.unverified, totals.rollouts)
    target = here.but(verified=here.filter.unverified) if count else None
    return Card("not verified", f"{count:,}", share, target)


def _per_task(totals: Totals) -> str:
    if totals.samples_min == totals.samples_max:
        return f"{counted(totals.samples_min, 'rollout')} each"
    return f"{totals.samples_min:,} to {totals.samples_max:,} rollouts each"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def clusters(screen: Screen) -> None:
    """Errors that look alike: the most frequent, and the others on demand."""
    found = outcomes.clusters(screen.run, screen.view.filter)
    if not found.rows:
        facts.note("None: every rollout in the filter passed.")
        return
    first, others = found.rows[:_CLUSTERS_SHOWN], found.rows[_CLUSTERS_SHOWN:]
    bars.clusters(first, screen.view)
    if others:
        with st.expander(f"{len(others):,} more"):
            bars.clusters(others, screen.view, key="more_cluster_bars")
    if part := found.part("kind"):
        facts.note(f"Listed: the {part}, the most frequent first.")


def flags(screen: Screen) -> None:
    """What was seen beside the verdicts, and which packages were missing; nothing where nothing was."""
    run, filter_ = screen.run, screen.view.filter
    flagged, packages = outcomes.flag_counts(run, filter_), outcomes.missing_packages(run, filter_)
    found = [*flagged.rows, *packages.rows]
    if not found:
        return
    facts.section(f"Flags beside the verdicts{_of(packages, 'missing package')}: a click shows the rollouts")
    bars.flags(found[:_FLAGS_SHOWN], screen.view)
    if others := found[_FLAGS_SHOWN:]:
        with st.expander(f"{len(others):,} more"):
            bars.flags(others, screen.view, key="more_flag_bars")


def unverified(screen: Screen) -> None:
    """Why rollouts are not verified, the most frequent reasons first; nothing where all are."""
    found = outcomes.unverified_reasons(screen.run, screen.view.filter)
    if not found.rows:
        return
    none_kept = screen.run.run.manifest.unverified == "unknown"
    kept = "no reward" if none_kept else "their reward is kept, where they have one"
    facts.section(f"Why not verified ({kept}){_of(found, 'reason')}: a click shows the rollouts")
    bars.unverified(found.rows[:_REASONS_SHOWN], screen.view)
    if others := found.rows[_REASONS_SHOWN:]:
        with st.expander(f"{len(others):,} more"):
            bars.unverified(others, screen.view, key="more_unverified_bars")


def provenance(run: OpenRun) -> None:
    """Grader, limits, sandbox and version: what two runs must share to be compared."""
    manifest = run.manifest
    limits, preamble = manifest.get("limits") or {}, manifest.get("preamble")
    ran = [
        ("checker", manifest.get("checker") or _CHECKERS),
        *([] if preamble is None else [("preamble", _preamble(preamble))]),
        ("wall", f"{limits.get('wall_s', 0):g} s"),
        ("CPU", f"{limits.get('cpu_s', 0):g} s"),
        ("memory", f"{limits.get('memory_mb', 0):g} MiB"),
        ("isolation", str(manifest.get("isolation", ""))),
        ("sandbox", str(manifest.get("sandbox", ""))),
        ("layers", ", ".join(manifest.get("layers") or []) or "not named"),
    ]
    facts.line(
        [
            ("grader", manifest.get("grader") or "tests, unless the task says"),
            *(ran if manifest.get("grader") != "stored" else ()),
            ("not verified", str(manifest.get("unverified", ""))),
            ("disagreement", str(manifest.get("disagreement", "unknown"))),
            ("created", str(manifest.get("created", ""))),
            ("evaluator", str(manifest.get("evaluator_version", ""))),
            ("Python", str(manifest.get("python", ""))),
            ("dataset hash", str(manifest.get("dataset_hash", ""))[:16]),
        ]
    )


def _preamble(given: str) -> str:
    """Of the option that takes the place of what the tasks say."""
    lines = given.splitlines()
    return f"{counted(len(lines), 'line')} in place of the task's, from {lines[0]!r} on" if lines else "none at all"


def open_rewards(bounds: list[float]) -> None:
    """Show the rollouts behind a bar of the reward histogram."""
    if len(bounds) == 2:
        state.go("rollouts", state.read().place().but(r_min=bounds[0], r_max=bounds[1]))


def _file(path: object) -> str:
    return str(path or "not named").rsplit("/", 1)[-1]
