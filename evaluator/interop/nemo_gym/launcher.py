"""Ends a server when its launcher ends: `gym eval reverify` of release 0.7.0 leaves its servers running."""

from __future__ import annotations

import os
import select
import signal
import threading
from pathlib import Path
from typing import Final

from evaluator.interop.nemo_gym.config import CONFIG_DICT

_CONFIGURATION: Final = f"{CONFIG_DICT}=".encode()
_INIT: Final = 1
_SHELLS: Final = ("bash", "dash", "sh")


def end_with_launcher() -> None:
    """Sends SIGTERM to this process when its parent ends. For servers launched by NeMo Gym.

    If the parent is a shell that the launcher started for the server, the launcher's end counts too, since such a shell
    outlives it: Bash before 5.1 always, later ones with `nemo_gym_log_dir`. A thread waits, since the kernel's own
    signal (PR_SET_PDEATHSIG) comes when the *thread* that started this process ends.
    """
    parent = os.getppid()
    watched = _watched(parent)
    if os.getppid() != parent:  # it has ended already
        os.kill(os.getpid(), signal.SIGTERM)
    if watched:
        threading.Thread(target=_wait, args=(watched,), name="rollscope-launcher", daemon=True).start()


def _watched(parent: int) -> list[int]:
    """Descriptors of the parent, of the launcher, and of the shells between them.

    Such a shell has the server's configuration in its environment (0.7) or in its command (0.4).
    """
    watched = []
    process = parent
    while process > _INIT:
        try:
            watched.append(os.pidfd_open(process))
            folder = Path(f"/proc/{process}")
            name, _, state = (folder / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
            given = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
        except OSError:  # it has ended, is another user's, or the kernel is older than 5.3
            break
        if name not in _SHELLS or _CONFIGURATION not in given:
            break
        process = int(state.split()[1])
    return watched


def _wait(watched: list[int]) -> None:
    poll = select.poll()
    for descriptor in watched:
        poll.register(descriptor, select.POLLIN)
    poll.poll()
    os.kill(os.getpid(), signal.SIGTERM)
