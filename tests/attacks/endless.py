"""What the programs that never end are made of.

Each outlives an alarm in its own process whose handler raises: it catches what is raised, keeps the signal away, or
sits in a call into C that looks at no signal. None of them ever answers right.
"""

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
