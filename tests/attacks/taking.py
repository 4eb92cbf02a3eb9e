"""What the programs are made of that take more of the machine than the limits give, and answer right only then.

The limits meant are the default ones: 1 GiB of memory, 64 threads, no new process, 128 open files, 4 MiB of output,
64 MiB of files. What they take is a little more than that, so that showing it costs a shared machine little, and
they give it back. Where they run without limits they need the default limits of open files and processes.
"""

from textwrap import indent

from tests.attacks.corpus import Attack


def bombing(name: str, technique: str, code: str, task: str = "single") -> Attack:
    return Attack(name, "resource", technique, task, code.lstrip("\n"))


def taking(name: str, technique: str, modules: str, body: str, task: str = "single") -> Attack:
    """`body` raises where it did not get what it wanted."""
    tried = indent(body.strip("\n"), " " * 8)
    return bombing(
        name,
        technique,
        f"import {modules}\ndef f(x):\n    try:\n{tried}\n    except BaseException: return None\n    return 2 * x\n",
        task,
    )


def holding(name: str, technique: str, modules: str, body: str) -> Attack:
    """As `taking`, with the time that filling so much memory takes."""
    return taking(name, technique, modules, body, "single_patient")
