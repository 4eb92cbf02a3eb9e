"""A descriptor that can be read from once it was rung, from any thread."""

from __future__ import annotations

import contextlib
import os
from typing import Final


class Bell:
    """Ring it to wake whoever waits for the descriptor."""

    def __init__(self) -> None:
        self.descriptor: Final = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def ring(self, _: object = None) -> None:
        os.eventfd_write(self.descriptor, 1)

    def silence(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.descriptor)

    def __del__(self) -> None:  # not before the last call that rings it
        os.close(self.descriptor)
