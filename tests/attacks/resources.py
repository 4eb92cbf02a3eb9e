"""Programs that take more of the machine than the limits give, and answer right only once they have it.

The limits meant are the default ones: 1 GiB of memory, 64 threads, no new process, 128 open files, 4 MiB of output,
64 MiB of files. What they take is a little more than that, so that showing it costs a shared machine little, and
they give it back. Where they run without limits they need the default limits of open files and processes.
"""

from __future__ import annotations

from tests.attacks import taken_counts, taken_memory
from tests.attacks.corpus import Attack

ATTACKS: list[Attack] = [*taken_memory.ATTACKS, *taken_counts.ATTACKS]
