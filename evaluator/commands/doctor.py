"""`rollscope doctor`: proves each layer of the sandbox here and now."""

from __future__ import annotations

from textwrap import wrap

from evaluator.commands.output import Exit, print_json, print_table
from evaluator.sandbox import Settings, self_test

_WIDTH = 72
"""Characters of a proof: with the columns before it, a line has 100 at most."""
_FIELDS = ("name", "holds", "needed", "how", "proof", "mend")


def diagnose(*, python: str | None, as_json: bool) -> int:
    """Print each layer with its proof; exit status 1 if a needed layer does not hold."""
    layers = self_test(Settings(python=python))
    missing = [layer for layer in layers if not layer.holds]
    needed = [layer for layer in missing if layer.needed]
    if as_json:
        print_json([{name: getattr(layer, name) for name in _FIELDS} for layer in layers])
    else:
        answers = ["yes" if layer.holds else "NO" if layer.needed else "no" for layer in layers]
        rows = []
        for layer, answer in zip(layers, answers, strict=True):
            rows += [(layer.name, answer, layer.how), *(("", "", line) for line in wrap(layer.proof, _WIDTH))]
        print_table(("layer", "holds", "how, and its proof"), rows)
        for layer in missing:
            print(f"{layer.name}{'' if layer.needed else ' (not needed)'}: {layer.mend}")
        if not needed:
            print("every needed layer holds: strict grading works here")
    return Exit.FINDING if needed else Exit.DONE
