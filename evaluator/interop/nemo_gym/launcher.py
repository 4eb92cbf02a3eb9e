"""Ends a server with the process that launched it: `gym eval reverify` of release 0.7.0 leaves its servers behind."""

from __future__ import annotations

import os
import select
import signal
import threading
from typing import Final

_INIT: Final = 1


def end_with_launcher() -> None:
    """Has this process sent SIGTERM when its parent ends. To be called by who was launched by NeMo Gym.

    A thread waits for the parent's end: the kernel's own signal for that would come as soon as the *thread* that
    started this process ends, which in a trainer may be any.
    """
    parent = os.getppid()
    try:
        descriptor = os.pidfd_open(parent)
    except OSError:  # it has ended already, or the kernel is older than 5.3
        return
    if parent == _INIT or os.getppid() != parent:
        os.close(descriptor)
        return
    threading.Thread(target=_wait, args=(descriptor,), name="rollscope-launcher", daemon=True).start()


def _wait(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.poll()
    os.kill(os.getpid(), signal.SIGTERM)
