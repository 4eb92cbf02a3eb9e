"""What the Completion page needs a script for: scrolling its code to a line, and the title's link."""

from __future__ import annotations

from collections.abc import Callable

from dashboard import theme

_mount = theme.component("scroll")


def to(anchor: str | None, *, key: str, on_task: Callable[[], None] = lambda: None) -> None:
    """Scroll the code box to `anchor` if `key` differs from the last call's. A click on the task calls `on_task`."""
    _mount(key="scroll", data={"anchor": anchor, "key": key}, height=1, on_task_change=on_task)
