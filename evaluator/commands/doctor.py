"""`rollscope doctor`: proves each layer of the sandbox here and now."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from evaluator.commands.failure import Exit
from evaluator.commands.tables import new_table, print_table
from evaluator.sandbox import self_test

if TYPE_CHECKING:
    from evaluator.sandbox import Layer


def diagnose(*, as_json: bool) -> int:
    """Print each layer with what proves it; a finding when one does not hold."""
    layers = self_test()
    if as_json:
        json.dump([_plain(layer) for layer in layers], sys.stdout, indent=2)
        print()
    else:
        _print(layers)
    return Exit.DONE if all(layer.holds for layer in layers) else Exit.FINDING


def _plain(layer: Layer) -> dict[str, object]:
    return {name: getattr(layer, name) for name in ("name", "holds", "how", "proof", "mend")}


def _print(layers: list[Layer]) -> None:
    table = new_table("layer", "holds", "how", "proof")
    for layer in layers:
        table.add_row(layer.name, "yes" if layer.holds else "NO", layer.how, layer.proof)
    print_table(table)
    missing = [layer for layer in layers if not layer.holds]
    for layer in missing:
        print(f"{layer.name}: {layer.mend}")
    if not missing:
        print("every layer holds: strict grading can be had")
