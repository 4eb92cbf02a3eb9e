"""The two sides of the Compare page: from the address, or by default two models or two runs; and their pickers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from dashboard import escape, facts, state, widgets, workspace
from dashboard.controls import Screen
from dashboard.grading import ungraded
from dashboard.queries import aggregates
from dashboard.queries.comparison import Side
from dashboard.state import Filter, View
from dashboard.workspace import Entry, OpenRun
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
    a, b = _read(view.a, known), _read(view.b, known)
    _pickers(view, known, a, b)
    for name, side in ((view.a, a), (view.b, b)):
        if side is None:
            facts.banner(f"{name} is not open here. Choose another run:", warn=True)
    if a is None or b is None:
        st.stop()
    return view, a, b


def _with_defaults(view: View, run: OpenRun, known: Sequence[Entry]) -> View:
    """The two models of the run with the most rollouts; of a single model, another run, of the same dataset if any."""
    models = [each.model for each in aggregates.models(run, Filter()).rows]
    a, b = view.a, view.b
    if not a:
        a = named(run.name, models[0] if len(models) > 1 else _ALL)
    if not b and len(models) > 1:
        b = next(other for model in models if (other := named(run.name, model)) != a)
    if not b and run.recorded:  # a run graded from it, else any other
        others = [entry for entry in known if entry.name != run.name]
        b = next((entry.name for entry in others if _is_of(entry, run)), others[0].name if others else "")
    elif not b and (others := [entry for entry in known if entry.name != run.name]):
        b = next((entry.name for entry in others if _dataset(entry) == run.manifest.dataset_hash), others[0].name)
    return view.but(a=a, b=b)


def _is_of(entry: Entry, run: OpenRun) -> bool:
    try:
        return entry.graded and read_manifest(entry.path).rollouts == run.manifest.rollouts
    except (RunError, OSError):
        return False


def _dataset(entry: Entry) -> str | None:
    if not entry.graded:
        return None
    try:
        return read_manifest(entry.path).dataset_hash
    except (RunError, OSError):
        return None


def _read(name: str, known: Sequence[Entry]) -> Side | None:
    """`run` or `run|model`; both may contain a `|`."""
    matching = [each for each in known if name == each.name or name.startswith(f"{each.name}|")]
    if not matching:
        return None
    entry = max(matching, key=lambda each: len(each.name))
    return Side(workspace.open_run(entry), name[len(entry.name) + 1 :])


def _pickers(view: View, known: Sequence[Entry], a: Side | None, b: Side | None) -> None:
    """Run and model of each side, and a button that swaps the sides."""
    *columns, last = st.columns([3, 3, 3, 3, 1], vertical_alignment="bottom", gap="small")
    names = [entry.name for entry in known]
    _pick_run("a", names, a, columns[0])
    _pick_model("a", a, columns[1])
    _pick_run("b", names, b, columns[2])
    _pick_model("b", b, columns[3])
    swapped = view.but(a=view.b, b=view.a, sample=view.at, at=view.sample)
    last.button("Swap", key="swap", on_click=state.write, args=(swapped,), width="stretch")


def _pick_run(which: Which, names: list[str], side: Side | None, column: st.delta_generator.DeltaGenerator) -> None:
    def chosen(view: View, name: str | None) -> View:
        picked = view.but(**{which: name or ""}, task="", sample="", at="", page=1)
        # The sidebar shows A's run. Another run has other models and errors: its filter starts empty.
        return picked.but(run=name or "", filter=Filter()) if which == "a" else picked

    current = side.run.name if side else None
    with column:
        widgets.show("selectbox", f"w_{which}", current, chosen, f"{which.upper()}: run", names,
                     format_func=escape.text, placeholder="choose a run")  # fmt: skip


def _pick_model(which: Which, side: Side | None, column: st.delta_generator.DeltaGenerator) -> None:
    found = [each.model for each in aggregates.models(side.run, Filter(), _MODELS_LISTED).rows] if side else []
    options = [_ALL, *found] if len(found) > 1 else [_ALL]
    current = side.model if side else _ALL
    if current not in options:
        options.append(current)
    every = f"all {len(found):,} together" if len(found) > 1 else escape.text("".join(found)) or "–"

    def chosen(view: View, model: str) -> View:
        assert side is not None
        return view.but(**{which: named(side.run.name, model)}, sample="", at="", page=1)

    with column:
        widgets.show("selectbox", f"w_model_{which}", current, chosen, "model", options,
                     format_func=lambda model: escape.text(model) or every, disabled=side is None)  # fmt: skip


def _nothing_to_compare(run: OpenRun) -> None:
    facts.banner(f"{run.name} has rollouts of one model, and no other run is open. Open two runs:", warn=True)
    st.code(f"rollscope view {run.manifest.rollouts if run.recorded else run.path} OTHER_RUN", language=None)
