"""Workers that stay warm between single calls, and the thread that talks to them.

Callers wait for a future, so a coroutine takes no thread. Workers are started as calls come that find none free.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import itertools
import operator
import os
import select
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from typing import Any, Final, TypeVar

import msgspec

from evaluator.graders import Bench
from evaluator.model import Grade, Rollout, Task
from evaluator.options import Options, Settings
from evaluator.sandbox import FaultError
from evaluator.workers.batches import CallItem, Item, Order
from evaluator.workers.dispatcher import Dispatcher
from evaluator.workers.engine import HERE, Bell, Engine, Place
from evaluator.workers.interrupts import STOPPED
from evaluator.workers.locks import Slot, is_machine_wide
from evaluator.workers.messages import Setup, pickled
from evaluator.workers.process_client import local_engine

Result = TypeVar("Result")

_IDLE_S: Final = 60.0
_REMEMBERED: Final = 1024


class Pending(Future[Result]):
    """Something that somebody waits for: a grade, or what a function returns."""

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self.item: Item | CallItem
        self._pool = pool

    def abort(self) -> None:
        """Ends it: whoever still waits gets `FaultError`. Safe from any thread, at any time."""
        self._pool.drop(self)

    async def awaited(self) -> Result:
        """What it gives. It is given up if the coroutine is cancelled."""
        import asyncio  # a third of what importing this package would cost

        try:
            return await asyncio.wrap_future(self)
        except asyncio.CancelledError:
            self.abort()
            raise

    def settle(self, result: Any, raised: bool = False) -> None:
        """Gives the result, or an exception, to whoever waits."""
        with contextlib.suppress(Exception):  # it was cancelled meanwhile
            if raised:
                self.set_exception(result)
            else:
                self.set_result(result)


class Pool:
    """The workers for one kind of sandbox. Safe from all threads."""

    def __init__(self, engine: Callable[[], Engine], settings: Settings) -> None:
        """`engine`: makes what starts them. It is called again when all were lost."""
        self._engine = engine
        self._settings = settings
        self._lock = threading.Lock()
        self._arrived: deque[Pending[Any]] = deque()
        self._dropped: deque[Pending[Any]] = deque()
        self._under_way: dict[int, Pending[Any]] = {}
        self._orders = _Orders()
        self._bell = Bell()
        self._closing = False
        self._ended = False
        self._thread: threading.Thread | None = None

    def grade(self, task: Task, rollout: Rollout, options: Options) -> Pending[Grade]:
        """Has a rollout graded. The future has the grade, or what the workers' start raises."""
        call: Pending[Grade] = Pending(self)
        with self._lock:
            call.item = Item(0, rollout, self._orders.order(task, options))
        self._begin(call)
        return call

    def call(self, function: Callable[..., Result], arguments: tuple[object, ...], options: Options) -> Pending[Result]:
        """Has a module's function called by a worker, with the worker's `Bench` before the arguments."""
        call: Pending[Result] = Pending(self)
        call.item = CallItem(pickled((function, arguments, options)), lambda *result: self._settle(call.item, *result))
        self._begin(call)
        return call

    def warm_up(self) -> Pending[None]:
        """Starts a worker, so that callers fail early: it raises `SandboxUnavailable` if there is no sandbox."""
        return self.call(_nothing, (), Options(sandbox=self._settings))

    def drop(self, call: Pending[Any]) -> None:
        """Nobody waits for it any more."""
        if call.cancelled() or not call.done():
            self._dropped.append(call)
            self._bell.ring()

    def close(self) -> None:
        """Ends the workers."""
        self._closing = True
        self._bell.ring()
        if self._thread is not None:
            self._thread.join()

    def _begin(self, call: Pending[Any]) -> None:
        with self._lock:
            if not self._ended:
                self._arrived.append(call)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="rollscope-grading", daemon=True)
                    self._thread.start()
                self._bell.ring()
                return
        call.settle(FaultError(STOPPED), raised=True)

    # ---- the thread

    def _run(self) -> None:
        called = select.poll()
        called.register(self._bell.descriptor, select.POLLIN)
        while not self._closing:
            called.poll()  # waits for the first call, or the first one after a failure
            self._bell.silence()
            try:
                with closing(self._dispatcher()) as dispatcher:
                    dispatcher.watch(self._bell.descriptor, self._bell.silence)
                    while not self._closing:
                        self._exchange(dispatcher)
            except BaseException as error:  # there is no sandbox, or no machine; the next call tries again
                self._fail(error)
        with self._lock:
            self._ended = True
        self._fail(FaultError(STOPPED))

    def _dispatcher(self) -> Dispatcher:
        engine = self._engine()._replace(cores=())  # other processes' pools would take the same ones
        atexit.unregister(close)
        atexit.register(close)  # again, so that it comes before what the engine has registered: Ray ends its own there
        machine_wide = is_machine_wide()
        if machine_wide and engine.same_machine:
            engine = engine._replace(is_full=Slot().is_full)
        return Dispatcher(engine, Setup(self._settings, machine_wide=machine_wide))

    def _exchange(self, dispatcher: Dispatcher) -> None:
        while self._dropped:
            call = self._dropped.popleft()
            if self._under_way.pop(id(call.item), None) is not None:
                dispatcher.drop(call.item)
            call.settle(FaultError(STOPPED), raised=True)
        while self._arrived and dispatcher.has_room:
            call = self._arrived.popleft()
            if not call.done():
                self._under_way[id(call.item)] = call
                dispatcher.add(call.item)
        for batch in dispatcher.wait(_IDLE_S):
            for item, grade in zip(batch.items, batch.grades, strict=True):
                verdicts[grade.verdict] += 1
                self._settle(item, grade)

    def _settle(self, item: Item | CallItem, result: object, raised: bool = False) -> None:
        call = self._under_way.pop(id(item), None)
        if call is not None:
            call.settle(result, raised)

    def _fail(self, error: BaseException) -> None:
        """All who wait get the error."""
        with self._lock:
            calls = [*self._arrived, *self._under_way.values()]
            self._arrived.clear()
            self._under_way.clear()
        for call in calls:
            call.settle(error, raised=True)


def _nothing(bench: Bench) -> None:
    """Does nothing: that a worker calls it shows that it has a sandbox."""


class _Orders:
    """The orders of the last tasks. A task that was changed since is another one."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._known: OrderedDict[tuple[int, Options], tuple[Order, tuple[Any, ...], list[Any]]] = OrderedDict()

    def order(self, task: Task, options: Options) -> Order:
        key = (id(task), options)
        found = self._known.get(key)
        fields = msgspec.structs.astuple(task)
        changing = [task.answer, task.limits, task.metadata]
        if found is not None and all(map(operator.is_, found[1], fields)) and found[2] == changing:
            return found[0]
        order = Order(next(self._numbers), copy.copy(task), options)
        self._known[key] = order, fields, copy.deepcopy(changing)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return order


verdicts: Final[Counter[str]] = Counter()
"""Of all grades of this process's pools."""
_Key = tuple[Place, Settings, str | None]
_pools: dict[_Key, Pool] = {}
_pools_lock = threading.Lock()


def local_pool(options: Options) -> Pool:
    """This process's workers on this machine."""
    return pool_at(HERE, options, local_engine)


def pool_at(place: Place, options: Options, engine: Callable[[], Engine]) -> Pool:
    """This process's workers for such calls: processes, the machines of a cluster, or servers."""
    file = options.grader if place.engine == "ray" and ".py:" in (options.grader or "") else None
    key = (place, options.sandbox, file)
    with _pools_lock:
        found = _pools.get(key)
        if found is None:
            found = _pools[key] = Pool(engine, options.sandbox)
        return found


def close() -> None:
    """Ends all of them; the next call starts new ones."""
    with _pools_lock:
        closing = list(_pools.values())
        _pools.clear()
    for each in closing:
        each.close()


def _renew_in_child() -> None:
    global _pools, _pools_lock
    _pools, _pools_lock = {}, threading.Lock()


os.register_at_fork(after_in_child=_renew_in_child)
atexit.register(close)
