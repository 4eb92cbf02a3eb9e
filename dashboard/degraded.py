"""Says on every page that a run was graded in a sandbox that was not proved."""

from __future__ import annotations

from dashboard import facts
from dashboard.workspace import OpenRun

_UNPROVED = "unproved: "


def banner(run: OpenRun) -> None:
    """A line above the page, for a run that was graded with `--sandbox degraded`."""
    manifest = run.run.manifest
    if manifest.sandbox != "degraded":
        return
    lacking = [layer.removeprefix(_UNPROVED) for layer in manifest.layers if layer.startswith(_UNPROVED)]
    if lacking:
        told = f"Graded in a degraded sandbox, not proved: {', '.join(lacking)}. See what mends it:"
        facts.banner(told, command="rollscope doctor", warn=True)
    else:
        facts.banner("Graded with --sandbox degraded; files, network and process tree were proved all the same.")
