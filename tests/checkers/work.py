"""Work as calls and as memory at its peak: the same on every machine, however busy it is."""

import sys
import tracemalloc
from collections.abc import Callable


class Work:
    """Calls of functions, Python's and C's, and bytes that were held at the peak beyond those before."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.calls = 0
        tracemalloc.start()
        before = sys.getprofile()
        sys.setprofile(self._count)
        try:
            function(*arguments)
        finally:
            sys.setprofile(before)
            self.peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()

    def _count(self, _frame: object, event: str, _argument: object) -> None:
        self.calls += event in ("call", "c_call")
