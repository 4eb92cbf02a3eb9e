"""How Ctrl-C and SIGTERM stop a long command without losing what is done."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def stopping_on_signal(stop: Callable[[], object], kept: str) -> Iterator[None]:
    """Within it the first Ctrl-C or SIGTERM calls `stop`; the second one ends the process at once.

    `kept`: what is not lost, for the message.
    """
    signals = (signal.SIGINT, signal.SIGTERM)

    def ask(number: int, frame: FrameType | None) -> None:
        del number, frame
        for each in signals:
            signal.signal(each, signal.SIG_DFL)
        stop()
        print(f"\nstopping: {kept} are kept (again to end at once)", file=sys.stderr, flush=True)

    before: dict[signal.Signals, Any] = {each: signal.signal(each, ask) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
