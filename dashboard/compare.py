"""The Compare page: its two sides, the difference in one sentence, the tasks by change, the code of both."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final, Literal

import streamlit as st

from dashboard import controls, escape, facts, state, widgets, workspace
from dashboard.components import links
from dashboard.components.links import Card
from dashboard.components.links import LetterLine as Line
from dashboard.controls import Screen
from dashboard.facts import counted
from dashboard.grading import ungraded
from dashboard.queries import aggregates, comparison, task_names
from dashboard.queries.comparison import Attempt, Side
from dashboard.queries.query import Ranking
from dashboard.state import Filter, View
from dashboard.text import diff_view, tables_view
from dashboard.workspace import Entry, OpenRun, WorkspaceError
from evaluator.runs.comparison import (
    Change,
    Comparison,
    Setting,
    TaskChange,
    headline,
    minor_settings,
    obstacles,
    settings_that_decide,
)
from evaluator.runs.files import RunError, read_manifest

_MODELS_LISTED = 1_000
_ALL = ""

Which = Literal["a", "b"]


def named(run: str, model: str) -> str:
    """A side as the address names it."""
    return f"{run}|{model}" if model else run


def find(screen: Screen) -> tuple[View, Side, Side]:
    """Both sides, and the view that names them, as the address then does. Ends the page if there is no second side."""
    known = [entry for entry in workspace.entries() if ungraded.is_readable(entry)]
    view = screen.view
    if not (view.a and view.b):
        view = _with_defaults(view, screen.run, known)
    state.name("compare", view)
    if not view.b:
        _nothing_to_compare(screen.run)
        st.stop()
    a, b = _read(view.a, view.a_step, known), _read(view.b, view.b_step, known)
    _pickers(view, known, a, b)
    for name, side in ((view.a, a), (view.b, b)):
        if side is None:
            facts.banner(f"{name} is not open here. Choose another run:", warn=True)
    if a is None or b is None:
        st.stop()
    return view, a, b


def _with_defaults(view: View, run: OpenRun, known: Sequence[Entry]) -> View:
    """The two models of the run with the most rollouts; of a single model, its first step and its last; else another
    run that has its tasks, of the same dataset if any."""
    if not view.a and not view.b:
        models = [each.model for each in aggregates.models(run, Filter()).rows]
        steps = comparison.steps(run, _ALL)
        if len(models) > 1:
            return view.but(a=named(run.name, models[0]), b=named(run.name, models[1]))
        if len(steps) > 1:
            return view.but(a=run.name, b=run.name, a_step=steps[0], b_step=steps[-1])
    view = view if view.a else view.but(a=run.name)
    side = _read(view.a, view.a_step, known)
    if view.b or side is None:
        return view
    others = [name for name in _partners(side, known) if name != side.run.name]
    entries = {entry.name: entry for entry in known}
    b = next((name for name in others if _is_of(entries[name], side.run)), others[0] if others else "")
    if not b:  # another model of the run
        models = comparison.models_with_tasks_of(side.run, side)
        b = next((named(side.run.name, model) for model in models if model != side.model and side.model), "")
    return view.but(b=b)


def _is_of(entry: Entry, run: OpenRun) -> bool:
    """Whether its rollouts are those of this file, or its dataset that of this run."""
    with contextlib.suppress(RunError, OSError):
        field = "rollouts" if run.recorded else "dataset_hash"
        return entry.graded and getattr(read_manifest(entry.path), field) == getattr(run.manifest, field)
    return False


def _read(name: str, step: int | None, known: Sequence[Entry]) -> Side | None:
    """`run` or `run|model`; both may contain a `|`."""
    matching = [each for each in known if name == each.name or name.startswith(f"{each.name}|")]
    if not matching:
        return None
    entry = max(matching, key=lambda each: len(each.name))
    return Side(workspace.open_run(entry), name[len(entry.name) + 1 :], step)


def _partners(side: Side, known: Sequence[Entry]) -> list[str]:
    """The runs that have a task of a side."""
    own, found = set(comparison.tasks_of(side)), []
    for entry in known:
        with contextlib.suppress(RunError, WorkspaceError, OSError):
            if not own.isdisjoint(comparison.tasks_in(entry)):
                found.append(entry.name)
    return found


def _pickers(view: View, known: Sequence[Entry], a: Side | None, b: Side | None) -> None:
    """Run, model and step of each side, and a button that swaps the sides. B is a run with tasks of A."""
    stepped = [side is not None and len(comparison.steps(side.run, side.model)) > 1 for side in (a, b)]
    widths = [width for has_steps in stepped for width in ([3, 2.5, 1.5] if has_steps else [3, 3])]
    *columns, last = st.columns([*widths, 1], vertical_alignment="bottom", gap="small")
    partners = [entry.name for entry in known] if a is None else _partners(a, known)
    sides: tuple[tuple[Which, Side | None, list[str]], ...] = (
        ("a", a, [entry.name for entry in known]), ("b", b, partners)
    )  # fmt: skip
    places = iter(columns)
    for (which, side, names), has_steps in zip(sides, stepped, strict=True):
        _pick_run(which, names, side, next(places))
        _pick_model(which, side, a, next(places))
        if has_steps and side is not None:
            _pick_step(which, side, next(places))
    swapped = view.but(
        a=view.b, b=view.a, a_step=view.b_step, b_step=view.a_step, sample=view.at, at=view.sample
    )  # fmt: skip
    last.button("Swap", key="swap", on_click=state.write, args=(swapped,), width="stretch")


def _pick_run(which: Which, names: list[str], side: Side | None, column: st.delta_generator.DeltaGenerator) -> None:
    def chosen(view: View, name: str | None) -> View:
        picked = view.but(**{which: name or "", f"{which}_step": None}, task="", sample="", at="", page=1)
        # The sidebar shows A's run. Another run has other models and errors: its filter starts empty.
        return picked.but(b="", b_step=None, run=name or "", filter=Filter()) if which == "a" else picked

    current = side.run.name if side else None
    if current is not None and current not in names:
        names = [*names, current]
    with column:
        widgets.show("selectbox", f"w_{which}", current, chosen, f"{which.upper()}: run", names,
                     format_func=escape.text, placeholder="choose a run")  # fmt: skip


def _pick_model(which: Which, side: Side | None, a: Side | None, column: st.delta_generator.DeltaGenerator) -> None:
    found = [each.model for each in aggregates.models(side.run, Filter(), _MODELS_LISTED).rows] if side else []
    if which == "b" and side is not None and a is not None:
        sharing = set(comparison.models_with_tasks_of(side.run, a))
        found = [model for model in found if model in sharing]
    options = [_ALL, *found] if len(found) > 1 else [_ALL]
    current = side.model if side else _ALL
    if current not in options:
        options.append(current)
    every = f"all {len(found):,} together" if len(found) > 1 else escape.text("".join(found)) or "–"

    def chosen(view: View, model: str) -> View:
        assert side is not None
        picked = {which: named(side.run.name, model), f"{which}_step": None}
        return view.but(**picked, sample="", at="", page=1)

    with column:
        widgets.show("selectbox", f"w_model_{which}", current, chosen, "model", options,
                     format_func=lambda model: escape.text(model) or every, disabled=side is None)  # fmt: skip


def _pick_step(which: Which, side: Side, column: st.delta_generator.DeltaGenerator) -> None:
    options: list[int | None] = [None, *comparison.steps(side.run, side.model)]
    current = side.step
    if current not in options:
        options.append(current)

    def chosen(view: View, step: int | None) -> View:
        return view.but(**{f"{which}_step": step}, sample="", at="", page=1)

    with column:
        widgets.show("selectbox", f"w_step_{which}", current, chosen, "step", options,
                     format_func=lambda step: "all" if step is None else f"{step:,}")  # fmt: skip


def _nothing_to_compare(run: OpenRun) -> None:
    facts.banner(
        f"{run.name} has rollouts of one model at one step, and no other run with its tasks is open. Open two runs:",
        warn=True,
    )
    st.code(f"rollscope view {run.manifest.rollouts if run.recorded else run.path} OTHER_RUN", language=None)


_PER_PAGE: Final = 100
_ROOM: Final = 296
"""Pixels above and below the list of tasks."""
_ERROR: Final = 120
"""Characters of an error that are shown above the code."""
_NAMED: Final = 20
"""Characters of a model's or run's name on a card."""
_HEIGHT: Final = "max(260px, calc(100vh - 366px))"
_ALWAYS: Final = (Change.FIXED, Change.BROKEN, Change.SAME)
_UNGRADED: Final = ("unknown", "sandbox_error")


class Shown:
    """What the page shows: the view with both sides in it, and their comparison under its filter."""

    def __init__(self, view: View, a: Side, b: Side) -> None:
        self.view, self.a, self.b = view, a, b
        self.found: Comparison = comparison.compared(a, b, view.filter)


def head(shown: Shown) -> None:
    """The difference in one sentence, or why there is none; the means and what they leave out."""
    a, b, found = shown.a.run.manifest, shown.b.run.manifest, shown.found
    recorded = [name for name, side in (("A", shown.a), ("B", shown.b)) if side.run.recorded]
    against = obstacles(found, [] if recorded else settings_that_decide(a, b))
    if shown.view.filter.by_outcome:
        against = ["the filter selects rollouts by outcome, so pass rates would mean nothing", *against]
    left, right = st.columns([2, 1], gap="medium", vertical_alignment="center")
    with left:
        st.html(tables_view.headline("" if against else headline(found), against))
        _minor([] if recorded else minor_settings(a, b), shown)
        if recorded:
            facts.note(f"The grades of {' and '.join(recorded)} came with the rollouts.")
    with right:
        links.cards([_mean("A", shown, shown.a, found.a_mean), _mean("B", shown, shown.b, found.b_mean)])


def _minor(found: list[Setting], shown: Shown) -> None:
    said = [f"{each.name}: {each.a} in A, {each.b} in B" for each in found]
    if shown.view.filter.model:
        said.append("the filter's model is ignored here")
    if said:
        facts.note(f"Also: {'; '.join(said)}.")


def _mean(name: str, shown: Shown, side: Side, mean: float) -> Card:
    tasks = counted(shown.found.difference.n, "task")
    who = side.model or side.run.name
    who = who if len(who) <= _NAMED else f"{who[: _NAMED - 1]}…"
    who = who if side.step is None else f"{who}, step {side.step:,}"
    return Card(f"{name}: {escape.text(who)}", _share(mean), f"pass, mean of {tasks}", _rollouts(shown, side))


def _rollouts(shown: Shown, side: Side) -> View:
    return View(run=side.run.name, filter=side.restricted(shown.view.filter))


def _share(value: float) -> str:
    return "–" if value != value else f"{value:.1%}"  # noqa: PLR0124


def changes(shown: Shown) -> list[TaskChange]:
    """The counts by change, of which one can be chosen. Returns the tasks of the chosen one."""
    found = shown.found
    counts = {change: n for change, n in found.counts.items() if n or change in _ALWAYS}
    labels = {"": f"all {len(found.tasks):,}"} | {str(c): f"{c.words} {n:,}" for c, n in counts.items()}
    with st.container(horizontal=True, vertical_alignment="center"):
        current = widgets.choice("Change", labels, shown.view, key="w_change", page=1, task="", sample="", at="")
        for name, side, count in (("A", shown.a, found.a_left_out), ("B", shown.b, found.b_left_out)):
            if count:
                target = _rollouts(shown, side).but(verdicts=_UNGRADED)
                state.link("rollouts", target, f"{counted(count, 'rollout')} of {name} not graded, left out")
    return [each for each in found.tasks if not current or each.change == current]


def halves(tasks: Sequence[TaskChange]) -> tuple[float, float]:
    """The widths of the list and of the code."""
    return (1.55, 1.3) if _has_counts(tasks) else (1, 1.75)


def _has_counts(tasks: Sequence[TaskChange]) -> bool:
    """Whether the list counts letters: where a task has many samples."""
    sides = (side for each in tasks for side in (each.a, each.b) if side is not None)
    return any(side.graded > links.LETTERS_SHOWN for side in sides)


def task_list(shown: Shown, tasks: list[TaskChange]) -> TaskChange | None:
    """One page of tasks. Returns the selected one, by default the first."""
    view = shown.view
    if not tasks:
        facts.note("No task.")
        return None
    page = controls.page_of(view, len(tasks), _PER_PAGE)
    listed = tasks[(page - 1) * _PER_PAGE : page * _PER_PAGE]
    selected = next((each for each in tasks if each.task_id == view.task), listed[0])
    ids = [each.task_id for each in listed]
    left, right = (comparison.letters(side, view.filter, ids) for side in (shown.a, shown.b))
    names = task_names.names(shown.a.run, ids) | task_names.names(shown.b.run, ids)
    shared = _shared([names.get(t, t) for t in ids])
    lines = [
        Line(
            names.get(t, t)[len(shared) :], (left.get(t, ""), right.get(t, "")), _change(each),
            state.href("compare", _select(view, t)), selected=t == selected.task_id,
        )
        for t, each in zip(ids, listed, strict=True)
    ]  # fmt: skip
    if _has_counts(tasks):
        found = (comparison.letters(side, view.filter, [each.task_id for each in tasks]) for side in (shown.a, shown.b))
        lines.insert(0, Line("together", ["".join(each.values()) for each in found], "", state.href("compare", view)))
    links.letter_table(
        lines, key="compare_tasks", head=(shared or "task", "A", "B", "change"), room=_ROOM,
        recorded=[side.run.recorded for side in (shown.a, shown.b)],
    )  # fmt: skip
    controls.pager(view, len(tasks), _PER_PAGE, "tasks")
    return selected


def _shared(names: Sequence[str]) -> str:
    """What all names begin with, up to a slash: it takes the place of what tells them apart."""
    first, last = min(names), max(names)
    ends = [place for place in range(1, len(first) + 1) if first[place - 1] == "/" and last.startswith(first[:place])]
    return first[: ends[-1]] if len(names) > 1 and ends else ""


def _change(each: TaskChange) -> str:
    points = each.points
    single = each.a is not None and each.b is not None and each.a.graded == each.b.graded == 1
    return each.change.words + (f" {points:+.0f}" if points and not single else "")


def _select(view: View, task: str) -> View:
    return view.but(task=task, sample="", at="")


def code(shown: Shown, tasks: list[TaskChange], selected: TaskChange) -> None:
    """The selected task: a sample of each side, and its code beside the other's."""
    view = shown.view.but(task=selected.task_id)
    _walk(shown.a.run, view, tasks, selected)
    broken = selected.change == Change.BROKEN
    texts = []
    for name, column, side, passed in zip(
        "AB", st.columns(2, gap="small"), (shown.a, shown.b), (broken, not broken), strict=True
    ):
        found = comparison.samples(side, view.filter, selected.task_id)
        one = typical(found, view.sample if name == "A" else view.at, passed=passed)
        with column:
            _side(view, name, side, found, one)
        texts.append(comparison.program(side.run, one.row) if one else "")
    if texts[0] == texts[1]:
        facts.note("Both samples have the same code.")
    st.html(diff_view.two_codes(texts[0], texts[1], _HEIGHT))


def _walk(run: OpenRun, view: View, tasks: list[TaskChange], selected: TaskChange) -> None:
    """The task's name, a link to it, and buttons to its neighbours in the list."""
    place = tasks.index(selected)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            facts.line([], title=f"{task_names.name(run, selected.task_id)} · {selected.change.words}")
        state.link("tasks", view.place().but(task=selected.task_id), "Prompt and tests")
        for label, key, step in (("Previous", "K", -1), ("Next", "J", 1)):
            there = place + step
            inside = 0 <= there < len(tasks)
            target = _select(view, tasks[there].task_id).but(page=1 + there // _PER_PAGE) if inside else None
            widgets.neighbour(label, key, target)


def typical(found: Ranking[Attempt], wanted: str, *, passed: bool) -> Attempt | None:
    """The wanted sample; by default a typical one that shows the change: one that passed, or one that did not."""
    if not found.rows:
        return None
    named = (each for each in found.rows if each.sample_id == wanted)
    telling = [each for each in found.rows if (each.verdict == "passed") is passed]
    return next(named, None) or max(telling, key=lambda each: each.alike, default=found.rows[0])


def _side(view: View, name: str, side: Side, found: Ranking[Attempt], one: Attempt | None) -> None:
    """One side's sample: the choice of it, its verdict and a link to the completion."""
    if one is None:
        facts.note(f"{name}: no sample of this task.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            is_theirs = side.run.recorded
            facts.line(
                _about(one), title=f"{name}: {one.verdict}", chip=one.verdict, recorded=is_theirs, own=not is_theirs
            )
        filter_ = side.restricted(view.filter)
        up = view.below("compare")
        target = View(run=side.run.name, filter=filter_, task=view.task, sample=one.sample_id, up=up)
        state.link("completion", target, f"Open {name}")
    if found.total > 1:
        _sample_picker(name, found, one)


def _about(one: Attempt) -> list[tuple[str, str]]:
    error = ": ".join(text.split("\n", 1)[0] for text in (one.error_type, one.error_message) if text)
    tests = [("tests", f"{one.tests_passed} of {one.tests_total}")] if one.tests_total else []
    return [*tests, *([("", error[:_ERROR])] if error else [])]


def _sample_picker(name: str, found: Ranking[Attempt], one: Attempt) -> None:
    words = {each.sample_id: escape.text(f"{each.sample_id} · {each.verdict}") for each in found.rows}

    def chosen(view: View, sample: str) -> View:
        return view.but(**{"sample" if name == "A" else "at": sample})

    widgets.show("selectbox", f"w_sample_{name}", one.sample_id, chosen, f"Sample of {name}", list(words),
                 format_func=words.__getitem__, label_visibility="collapsed")  # fmt: skip
    if part := found.part("sample"):
        facts.note(f"Listed: the {part}.")
