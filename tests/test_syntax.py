"""The parser used from many threads at once."""

import sys
import threading
from collections.abc import Iterator

import pytest

from evaluator import syntax

SOURCE = "\n".join(f"def f{n}(a, b={n}): return {{a: [b, (1, 2, lambda z: z + {n})]}}" for n in range(60))


class Knot:
    """Garbage for the collector, whose `__del__` gives another thread its turn in the middle of a parse."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        for _ in range(300):
            pass


@pytest.fixture
def frequent_turns() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_threads_that_parse_at_once_do_not_harm_each_other(frequent_turns: None) -> None:
    trees: list[int] = []

    def parse() -> None:
        for _ in range(40):
            for _ in range(20):
                Knot()
            trees.append(len(syntax.parse(SOURCE).body))

    threads = [threading.Thread(target=parse) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trees == [60] * 80
