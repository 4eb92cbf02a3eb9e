"""The Overview page: its head with one button, the figures, the models, the lists, how the run was graded."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import streamlit as st

from dashboard import controls, escape, estimates, facts, state, theme
from dashboard.components import links
from dashboard.components.links import Card
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.queries import aggregates, audits, comparison, listing, orders, records, task_names
from dashboard.queries.aggregates import NO_MODEL, FlatGroup, ModelCount, Signal, Totals, VerdictCount, recorded_counts
from dashboard.queries.query import Ranking
from dashboard.state import DIFFER, FAILED, NO_SIGNAL, Filter, View
from dashboard.text import diff_view
from dashboard.workspace import OpenRun
from evaluator.model import Verdict
from evaluator.options import choices
from evaluator.runs.metrics import Interval

_mount_signal = theme.component("signal", '<div class="signal"></div>', "links.js")


def _group(group: FlatGroup, name: str, several: Sequence[str], view: View) -> dict[str, str]:
    """A link to the group's rollouts. `several`: those of `model` and `step` in which the run's rollouts differ."""
    target, label = view.place().but(task=group.task_id), [name]
    if "step" in several and group.step is not None:
        target, label = target.but(step_min=group.step, step_max=group.step), [*label, f"step {group.step}"]
    if "model" in several and group.model is not None:
        target, label = target.but(model=group.model), [*label, group.model]
    if group.group not in (None, group.task_id):
        label.append(str(group.group))
    return {"label": escape.text(" · ".join(label)), "href": state.href("rollouts", target)}


_mount_models = theme.component("model_table", '<div class="models"></div>', "links.js")


def _model_row(
    model: ModelCount, pass_at_1: Interval | None, verdicts: Sequence[VerdictCount], view: View
) -> dict[str, object]:
    """For the component; texts are escaped. `hrefs`: the addresses of the cells, by the cell's name.

    A click on the name filters this page by the model, or no longer; one on a count opens rollouts.
    """
    here, selected = view.place().but(model=model.model), view.filter.model == model.model
    hrefs = {each.verdict: state.href("rollouts", here.but(verdicts=(each.verdict,))) for each in verdicts}
    hrefs["model"] = state.href("overview", here.but(model="") if selected else here)
    hrefs["n"] = state.href("rollouts", here)
    known = pass_at_1 if pass_at_1 and pass_at_1.n else None
    return {
        "model": escape.text(model.model),
        "n": f"{model.rollouts:,}",
        "reward": facts.number(model.mean_reward),
        "interval": [known.low, known.value, known.high] if known else None,
        "rate": facts.number(known.value) if known else "–",
        "range": f"{known.low:.3f}–{known.high:.3f}" if known else "",
        "parts": [_model_part(each, each.rollouts / model.rollouts) for each in verdicts],
        "selected": selected,
        "hrefs": hrefs if model.model != NO_MODEL else {},
    }


def _model_part(each: VerdictCount, share: float) -> dict[str, object]:
    title = f"{each.verdict}: {each.rollouts:,} ({share:.1%})"
    return {"cell": each.verdict, "letter": theme.verdict(each.verdict).letter, "share": share, "title": title}


_CHECKERS = "value (call), floats (stdin), python (assert), unless the task names one"
_FLAGS_SHOWN = 8
_SAMPLE_SHOWN = 20_000
_REASONS_SHOWN = 4
_MODELS_LISTED = 50
_GROUPS_SHOWN = 150
_ENDS = {"fail": ("all fail", "all_fail"), "pass": ("all pass", "all_pass"), "mixed": ("equal rewards", NO_SIGNAL)}
"""How the rollouts of a group without signal ended: its name, and its word in the filter."""


def head(screen: Screen) -> None:
    """The run's name and files, the button to the first failure."""
    manifest = screen.run.manifest
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        found = [("rollouts", _file(manifest.rollouts))]
        if manifest.dataset or not screen.run.recorded:
            found.append(("dataset", _file(manifest.dataset)))
        if manifest.state != "finished":
            found.append(("state", manifest.state))
        facts.line(found, title=screen.run.name)
    if screen.run.recorded and not recorded_counts(screen.run).graded:
        return
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        name, steps = screen.run.name, comparison.steps(screen.run, "")
        if len(steps) > 1:
            sides = View(run=name, a=name, b=name, a_step=steps[0], b_step=steps[-1])
            state.link("compare", sides, f"Compare step {steps[0]:,} with {steps[-1]:,}")
        _first_failure(screen)


def _first_failure(screen: Screen) -> None:
    filter_, label = screen.view.filter, "Open the first failure"
    found = aggregates.first_failure(screen.run, filter_)
    if found is None and filter_:
        filter_, label = Filter(), "No failure in the filter: open the run's first"
        found = aggregates.first_failure(screen.run, filter_)
    target = None
    if found is not None:
        task, sample, test = found
        # So that J and K step through the failures, unless verdicts are filtered already.
        here = screen.view.but(filter=filter_).place()
        target = here.but(task=task, sample=sample, test=test, verdicts=filter_.verdicts or (FAILED,))
    st.button(
        label if target else "No failure here",
        type="primary",
        disabled=target is None,
        key="first_failure",
        shortcut="F",
        on_click=state.go,
        args=("completion", target or View()),
    )


def figures(screen: Screen) -> None:
    """Counts and rates of the filtered rollouts. Ungraded rollouts are counted apart, never as failures."""
    filter_, here = screen.view.filter, screen.view.place()
    totals = aggregates.totals(screen.run, filter_)
    part = f"of {screen.total:,}" if screen.shown < screen.total else "all"
    counts = [
        Card("rollouts", f"{totals.rollouts:,}", part, here.but(view="table")),
        Card("tasks", f"{totals.tasks:,}", _per_task(totals), here, "tasks"),
    ]
    if screen.run.recorded:
        links.cards([*counts, *_came_with(screen, totals, here)])
        return
    links.cards(
        [
            *counts,
            _pass_at_1(screen),
            _mean_reward(screen, totals),
            _signal(aggregates.signal(screen.run, filter_), here),
            *_ungraded(totals, here),
            _unverified(totals, here),
            *_disagreements(totals, here),
            *_came_otherwise(screen, here),
        ]
    )


def _came_with(screen: Screen, totals: Totals, here: View) -> list[Card]:
    """Figures of the grades that rollouts came with; if none did, there is nothing to average."""
    none = totals.unknown == totals.rollouts and not totals.rewarded
    target = here.but(verdicts=("unknown",)) if totals.unknown else None
    without = Card("without a verdict", f"{totals.unknown:,}", _share(totals.unknown, totals.rollouts), target)
    if none:
        return [without]
    signal = _signal(aggregates.signal(screen.run, screen.view.filter), here)
    return [_pass_at_1(screen), _mean_reward(screen, totals), signal, without]


def _mean_reward(screen: Screen, totals: Totals) -> Card:
    name, value = f"mean reward{controls.pooled(screen, ', {}')}", facts.number(totals.mean_reward)
    return Card(name, value, _rewarded(totals), screen.view.place(), "rewards")


def _rewarded(totals: Totals) -> str:
    """How many rewards the mean is over, or its bounds if disagreements have no reward."""
    if totals.mean_low != totals.mean_high:
        return f"{facts.number(totals.mean_low)} to {facts.number(totals.mean_high)} with disagreements"
    return f"over {totals.rewarded:,} with a reward"


def _disagreements(totals: Totals, here: View) -> list[Card]:
    """Test suites whose two runs disagree; no card if there are none."""
    if not totals.disagreements:
        return []
    target = here.but(verified=here.filter.unverified)
    return [Card("disagree", f"{totals.disagreements:,}", "fail apart, pass in one process", target)]


def _came_otherwise(screen: Screen, here: View) -> list[Card]:
    """On how many the grades that rollouts came with differ from ours: rewards, else verdicts; no card without any."""
    rewards = audits.given_counts(screen.run, screen.view.filter)
    differ, compared = rewards.higher + rewards.lower, rewards.given - rewards.without_own
    if compared:
        note, target = (
            f"given: {rewards.higher:,} higher, {rewards.lower:,} lower",
            here.but(given="differs") if differ else None,
        )
        return [Card("reward differs", f"{differ:,} of {compared:,}", note, target)]
    verdicts = audits.recorded(screen.run, screen.view.filter)
    differ, note = verdicts.both - verdicts.agree, f"from the recorded; {verdicts.only_recorded:,} passed"
    target = here.but(recorded=DIFFER) if differ else None
    found = Card("verdict differs", f"{differ:,} of {verdicts.both:,}", note, target)
    return [found] if verdicts.both else []


def _pass_at_1(screen: Screen) -> Card:
    if screen.view.filter.by_outcome:
        return Card("pass@1", "–", "filtered by outcome")
    interval = estimates.pass_at_1(screen.run, screen.view.filter)
    if not interval.n:
        return Card("pass@1", "–", "nothing graded")
    note, target = f"95%: {interval.low:.3f} to {interval.high:.3f}", screen.view.place().but(verdicts=("passed",))
    return Card(f"pass@1{controls.pooled(screen, ', {}')}", facts.number(interval.value), note, target)


def model_lines(screen: Screen) -> None:
    """A row per model. The filter's own model does not restrict them, so that another can be chosen."""
    filter_ = msgspec.structs.replace(screen.view.filter, model="")
    found = aggregates.models(screen.run, filter_, _MODELS_LISTED)
    facts.section(f"Models{_of(found, 'model')} (click to filter)")
    verdicts = aggregates.verdicts_of_models(screen.run, filter_, _MODELS_LISTED)
    intervals = [None if filter_.by_outcome else _interval(screen, each) for each in found.rows]
    rows = [
        _model_row(each, one, verdicts[each.model], screen.view)
        for each, one in zip(found.rows, intervals, strict=True)
    ]
    _mount_models(key="model_table", data={"rows": rows, "palette": theme.palette()})


def _interval(screen: Screen, each: ModelCount) -> Interval:
    filter_ = msgspec.structs.replace(screen.view.filter, model="")
    return estimates.pass_at_1(screen.run, filter_, each.model)


def _of(found: Ranking[object], noun: str) -> str:
    part = found.part(noun)
    return f" ({part})" if part else ""


def _signal(signal: Signal, here: View) -> Card:
    label = "no signal"
    if not signal.groups:
        return Card(label, "–", "one rollout per group")
    value = f"{signal.flat:,} of {signal.groups:,}"
    note = f"{signal.flat / signal.groups:.1%} of groups, {signal.all_fail:,} all fail"
    return Card(label, value, note, here.but(signal=NO_SIGNAL) if signal.flat else None)


def flat_groups(screen: Screen) -> None:
    """The groups whose rewards are all equal, as many as fit; nothing if there are none."""
    run, view = screen.run, screen.view
    signal = aggregates.signal(run, view.filter)
    if not signal.flat:
        return
    several = listing.several(run)
    kinds = []
    for ended, (name, word) in _ENDS.items():
        found = aggregates.flat_groups(run, view.filter, ended, _GROUPS_SHOWN)
        if found.total:
            href = state.href("rollouts", view.place().but(signal=word))
            names = task_names.names(run, sorted({group.task_id for group in found.rows}))
            items = [_group(each, names.get(each.task_id, each.task_id), several, view) for each in found.rows]
            kinds.append({"title": f"{name} {found.total:,}", "href": href, "items": items})
    facts.section(f"Groups without signal: equal rewards ({signal.flat:,} of {signal.groups:,})")
    _mount_signal(key="signal", data={"kinds": kinds})


def _ungraded(totals: Totals, here: View) -> list[Card]:
    """A card for each verdict without a reward that there is; one for both where there is none."""
    counts = {"unknown": totals.unknown, "sandbox_error": totals.sandbox_error}
    found = [Card(word, f"{n:,}", "no reward", here.but(verdicts=(word,))) for word, n in counts.items() if n]
    return found or [Card("not graded", "0", "no reward")]


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
    """Similar errors: the most frequent, and the others on demand. Nothing if no rollout has a grade."""
    if screen.run.recorded and not recorded_counts(screen.run).graded:
        return
    facts.section("Failures that look alike (click for the rollouts)")
    found = aggregates.clusters(screen.run, screen.view.filter)
    rows = [row for row in found.rows if not (screen.run.recorded and row.verdict == Verdict.UNKNOWN)]
    if not rows:
        which = "rollout in the filter that came with a grade" if found.rows else "rollout in the filter"
        facts.note(f"None: every {which} passed.")
        return
    links.clusters(rows, screen.view, recorded=screen.run.recorded)
    if part := found.part("kind"):
        facts.note(f"Listed: the {part}, the most frequent first.")


def sample(screen: Screen) -> None:
    """The first rollout, where no figure says anything yet; nothing where one came with a grade."""
    run, view = screen.run, screen.view
    if not run.recorded or recorded_counts(run).graded:
        return
    found = orders.first(run, view.filter, view.sort)
    record = found and records.rollout(run, *found)
    if not found or not record:
        return
    target = view.place().but(task=found[0], sample=found[1])
    with st.container(horizontal=True, vertical_alignment="center"):
        facts.section(f"The first of them: {task_names.name(run, found[0])}")
        state.link("completion", target, "Open it")
    st.html(diff_view.text_block(record.completion[:_SAMPLE_SHOWN], height="max(200px, calc(100vh - 400px))"))
    if not run.manifest.dataset:
        facts.banner("To grade them, start the dashboard with their tasks:",
                     command=f"rollscope view {_file(run.manifest.rollouts)} --dataset DATASET.jsonl")  # fmt: skip


def flags(screen: Screen) -> None:
    """Flags and missing packages; nothing if there are none."""
    run, filter_ = screen.run, screen.view.filter
    flagged, packages = aggregates.flag_counts(run, filter_), aggregates.missing_packages(run, filter_)
    found = [*flagged.rows, *packages.rows]
    if not found:
        return
    facts.section(f"Flags{_of(packages, 'missing package')} (click for the rollouts)")
    links.flags(found, screen.view, _FLAGS_SHOWN)


def unverified(screen: Screen) -> None:
    """Why rollouts are not verified, the most frequent reason first; nothing if all are, or nothing was graded."""
    if screen.run.recorded:
        return
    found = aggregates.unverified_reasons(screen.run, screen.view.filter)
    if not found.rows:
        return
    reward = "without a reward" if screen.run.manifest.options.unverified == "unknown" else "with their reward"
    facts.section(f"Not verified, {reward}{_of(found, 'reason')} (click for the rollouts)")
    links.unverified(found.rows, screen.view, _REASONS_SHOWN)


def provenance(run: OpenRun) -> None:
    """One line about grader, limits and sandbox, with the rest on demand: two runs compare only if these are equal.

    Nothing for rollouts that were not graded.
    """
    if run.recorded:
        return
    manifest = run.manifest
    limits, preamble = manifest.options.limits, manifest.options.preamble
    short = [manifest.options.grader or "tests", manifest.options.checker or "each task's checker"]
    if manifest.options.grader != "stored":
        layers = f" ({counted(len(manifest.layers), 'layer')})" if manifest.layers else ""
        short += [f"{limits.wall_s:g} s", f"{limits.memory_mb:g} MiB", f"{manifest.options.sandbox.strictness}{layers}"]
    short.append(manifest.created[:10])
    ran = [
        ("checker", manifest.options.checker or _CHECKERS),
        *([] if preamble is None else [("preamble", _preamble(preamble))]),
        ("wall", f"{limits.wall_s:g} s"),
        ("CPU", f"{limits.cpu_s:g} s"),
        ("memory", f"{limits.memory_mb:g} MiB"),
        ("sandbox", manifest.options.sandbox.strictness),
        ("layers", ", ".join(manifest.layers) or "unknown"),
    ]
    with st.expander(escape.markdown(f"Graded: {' · '.join(short)}")):
        facts.line(
            [
                ("grader", manifest.options.grader or "tests, unless the task names one"),
                *(ran if manifest.options.grader != "stored" else ()),
                *choices(manifest.options),
                ("created", manifest.created),
                ("evaluator", manifest.evaluator_version),
                ("Python", manifest.python),
                ("dataset hash", manifest.dataset_hash[:16]),
            ]
        )


def _preamble(code: str) -> str:
    """The option that replaces the tasks' preambles."""
    lines = code.splitlines()
    return f"{counted(len(lines), 'line')} instead of the task's, starting with {lines[0]!r}" if lines else "none"


def _file(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1] or "unknown"
