"""All honest programs, and the tasks that only they need."""

import sys
from decimal import Context

from evaluator.model import Task
from tests.attacks.corpus import Honest, make_task
from tests.attacks.honest.definitions import DEFINITIONS
from tests.attacks.honest.endings import CLOCKS, ENDINGS
from tests.attacks.honest.language import LANGUAGE
from tests.attacks.honest.modules import FILES, MODULES
from tests.attacks.honest.reading import READING
from tests.attacks.honest.results import RESULTS
from tests.attacks.honest.threads import THREADS
from tests.attacks.honest.writing import WRITING

_LIMIT_S = 30.0


def _task(name: str, entry_point: str | None, *cases: tuple[str, str]) -> Task:
    return make_task(name, entry_point, _LIMIT_S, *cases)


def _counted(last: int) -> str:
    return "".join(f"{number}\n" for number in range(1, last + 1))


_SMALL, _LARGE = 10, 200_000

_DEPTH_THROUGH_C = {(3, 12): 400, (3, 13): 3_000}.get(sys.version_info[:2], 30_000)
"""3.12 and 3.13 themselves end such a recursion, whatever limit was set."""


def _sevens(exponent: int) -> str:
    """7 ** exponent in digits, of which Python writes no more than 4,300 unless it is asked to."""
    return str(Context(prec=exponent).power(7, exponent))


HONEST_TASKS: dict[str, Task] = {
    task.task_id: task
    for task in (
        # Reads one int, prints twice that.
        _task("double_stdin", None, ("6007\n", "12014\n")),
        # Reads a number n and n more, one on each line; prints the sum of those.
        _task("total", None, ("3\n1\n2\n3\n", "6\n"), ("1\n-5\n", "-5\n"), ("4\n10\n20\n30\n40\n", "100\n")),
        # Prints the sum of the ints of each line; lines end as they do on Windows.
        _task("carriage_returns", None, ("1 2\r\n3 4\r\n", "3\n7\n"), ("5\r\n", "5\n")),
        # Reads n, prints n: by going n calls deep.
        _task("depth", None, ("10\n", "10\n"), ("30000\n", "30000\n")),
        # The same by calls that each go through C.
        _task("depth_through_c", None, ("10\n", "10\n"), (f"{_DEPTH_THROUGH_C}\n", f"{_DEPTH_THROUGH_C}\n")),
        # Reads n, prints the numbers up to n.
        _task("numbers", None, (f"{_SMALL}\n", _counted(_SMALL)), (f"{_LARGE}\n", _counted(_LARGE))),
        # Prints its input, which is not ASCII.
        _task("any_text", None, ("heron \U0001fab6 ж\n", "heron \U0001fab6 ж\n"), ("日本\u2028語\n", "日本\u2028語\n")),
        # Reads n, prints n fish.
        _task("emoji", None, ("1\n", "\U0001f41f\n"), ("2\n", "\U0001f41f\n\U0001f41f\n")),
        # Reads n, prints n times two words.
        _task("two_lines", None, ("1\n", "first|second\n"), ("2\n", "first|second\nfirst|second\n")),
        # Reads n, prints 7 ** n.
        _task("digits", None, ("2\n", "49\n"), ("9000\n", f"{_sevens(9000)}\n")),
        # f(n) is 7 ** n.
        _task("power", "f", ("3", "343"), ("5000", _sevens(5000))),
        # f(a, b) is the quotient and the rest.
        _task("divide", "f", ("7\n2", "[3, 1]"), ("-7\n2", "[-4, 1]"), ("9\n3", "[3, 0]")),
        # f(items) is the items without repetition.
        _task("distinct", "f", ("[3, 1, 3]", "[3, 1]"), ("[2, 2, 2]", "[2]"), ("[]", "[]")),
        # f(items) has twice each item.
        _task("double_all", "f", ("[1, 2, 3]", "[2, 4, 6]"), ("[-7]", "[-14]"), ("[0, 10]", "[0, 20]")),
    )
}

HONEST: list[Honest] = [
    *READING,
    *WRITING,
    *ENDINGS,
    *THREADS,
    *CLOCKS,
    *RESULTS,
    *DEFINITIONS,
    *FILES,
    *LANGUAGE,
    *MODULES,
]
