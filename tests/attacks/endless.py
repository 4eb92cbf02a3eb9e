"""What the programs that never end are made of."""

from __future__ import annotations

from tests.attacks.corpus import Attack

# A loop with an iterator: CPython 3.11 looks for signals where a quick `while` loop has no handler yet.
SPIN = """
def spin():
    while True:
        try:
            for _ in iter(int, 1): pass
        except BaseException: pass
"""


def endless(name: str, technique: str, code: str, task: str = "single") -> Attack:
    return Attack(name, "timeout", technique, task, code.lstrip("\n"), shown="hangs")
