"""Copies the dashboard and the bundled example into the wheel at build time, under `evaluator/_app/`.

A hook, since `force-include` would also put a copy, soon stale, into an editable install.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CARRIED = ("app.py", "pages", "dashboard", "data", ".streamlit")


class CarryTheDashboard(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the files that `rollscope view` starts to a wheel, but not to an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # the checkout itself is used
            return
        root = Path(self.root)
        for name in _CARRIED:
            if (root / name).exists():
                build_data["force_include"][str(root / name)] = f"evaluator/_app/{name}"
        for path in (root / "docs").rglob("*.md"):  # the page Docs; without the pictures
            build_data["force_include"][str(path)] = f"evaluator/_app/{path.relative_to(root)}"
