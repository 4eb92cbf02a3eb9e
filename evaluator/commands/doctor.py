"""`rollscope doctor`: proves each layer of the sandbox here and now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluator.commands.failure import Exit
from evaluator.commands.tables import new_table, print_json, print_table
from evaluator.sandbox import Settings, self_test

if TYPE_CHECKING:
    from evaluator.sandbox import Layer


def diagnose(*, python: str | None, as_json: bool) -> int:
    """Print each layer with its proof; exit status 1 if a needed layer does not hold."""
    layers = self_test(Settings(python=python))
    if as_json:
        print_json([_fields(layer) for layer in layers])
    else:
        _print(layers)
    return Exit.FINDING if _missing(layers) else Exit.DONE


def _missing(layers: list[Layer]) -> list[Layer]:
    return [layer for layer in layers if layer.needed and not layer.holds]


def _fields(layer: Layer) -> dict[str, object]:
    return {name: getattr(layer, name) for name in ("name", "holds", "needed", "how", "proof", "mend")}


def _print(layers: list[Layer]) -> None:
    table = new_table("layer", "holds", "how", "proof")
    for layer in layers:
        table.add_row(layer.name, "yes" if layer.holds else "NO" if layer.needed else "no", layer.how, layer.proof)
    print_table(table)
    for layer in layers:
        if not layer.holds:
            print(f"{layer.name}{'' if layer.needed else ' (not needed)'}: {layer.mend}")
    if not _missing(layers):
        print("every needed layer holds: strict grading works here")
