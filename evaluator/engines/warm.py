"""Worker processes that stay warm between single calls, and the thread that talks to them; or a cluster's machines.

Callers wait for a future, so a coroutine takes no thread. The processes are started as calls come that find none free.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import itertools
import os
import select
import threading
from collections import OrderedDict, deque
from concurrent.futures import Future
from contextlib import closing
from typing import Any, Final, NamedTuple

import msgspec

from evaluator.engines.batches import Item
from evaluator.engines.borrowed_hand import borrowed_or_own
from evaluator.engines.choice import EngineName, engine_named
from evaluator.engines.dispatching import Dispatcher
from evaluator.engines.messages import Setup
from evaluator.engines.room import Room, is_machine_wide
from evaluator.engines.shipping import Order
from evaluator.model import Grade, Rollout, Task
from evaluator.options import Options
from evaluator.sandbox import FaultError, Settings
from evaluator.stages import Stage

_IDLE_S: Final = 60.0
_REMEMBERED: Final = 1024
_CLOSED: Final = "stopped: nobody waits for the result any more"


class Answer(NamedTuple):
    """A grade, and the seconds by stage if they were asked for."""

    grade: Grade
    spent: dict[Stage, float]


class Call:
    """One rollout that somebody waits for."""

    def __init__(self, service: Service, order: Order, rollout: Rollout, *, measure: bool) -> None:
        self.future: Future[Answer] = Future()
        self.order = order
        self.rollout = rollout
        self.measure = measure
        self.item: Item | None = None
        self._service = service

    def abort(self) -> None:
        """Ends it: whoever still waits gets `FaultError`. Safe from any thread, at any time."""
        self._service.drop(self)


class Service:
    """The processes for one kind of sandbox. Safe from all threads."""

    def __init__(self, engine: EngineName, address: str | None, options: Options, *, borrows: bool) -> None:
        """Of `options`, the sandbox and the grader's file count. `borrows`: whether from a server, while one lends."""
        self._engine = engine, address, options
        self._borrows = borrows
        self._lock = threading.Lock()
        self._arrived: deque[Call] = deque()
        self._dropped: deque[Call] = deque()
        self._under_way: dict[int, Call] = {}
        self._orders = _Orders()
        self._reader, self._writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._closing = False
        self._ended = False
        self._thread: threading.Thread | None = None

    def call(self, task: Task, rollout: Rollout, options: Options, *, measure: bool = False) -> Call:
        """Has a rollout graded. The future has the answer, or what `grade` raises."""
        with self._lock:
            call = Call(self, self._orders.order(task, options), rollout, measure=measure)
            if self._ended:
                self._settle(call, FaultError(_CLOSED))
                return call
            self._arrived.append(call)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="rollscope-grading", daemon=True)
                self._thread.start()
        self._wake()
        return call

    def drop(self, call: Call) -> None:
        """Nobody waits for it any more."""
        if call.future.cancelled() or not call.future.done():
            self._dropped.append(call)
            self._wake()

    def close(self) -> None:
        """Ends the processes."""
        self._closing = True
        self._wake()
        if self._thread is not None:
            self._thread.join()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # it is full, so it is read
            os.write(self._writer, b".")

    def _run(self) -> None:
        called = select.poll()
        called.register(self._reader, select.POLLIN)
        while not self._closing:
            called.poll()  # waits for the first call, or the first one after a failure
            self._drained()
            try:
                with closing(self._dispatcher()) as dispatcher:
                    dispatcher.watch(self._reader, self._drained)
                    while not self._closing:
                        self._exchange(dispatcher)
            except BaseException as error:  # there is no sandbox, or no machine; the next call tries again
                self._fail(error)
        with self._lock:
            self._ended = True
        self._fail(FaultError(_CLOSED))

    def _dispatcher(self) -> Dispatcher:
        engine, address, options = self._engine
        found = engine_named(engine, address, options, None)
        atexit.unregister(close)
        atexit.register(close)  # again, so that it comes before what the engine has registered: Ray ends its own there
        machine_wide = is_machine_wide()
        is_full = Room().is_full if machine_wide and engine == "local" and not self._borrows else None
        # Other processes have such workers too, each of which would take the first cores.
        found = found._replace(cores=(), is_full=is_full)
        if self._borrows:
            found = found._replace(start=borrowed_or_own)
        return Dispatcher(found, Setup(options.sandbox, remembers=False, machine_wide=machine_wide))

    def _exchange(self, dispatcher: Dispatcher) -> None:
        while self._dropped:
            call = self._dropped.popleft()
            if call.item is not None and self._under_way.pop(call.item.number, None) is not None:
                dispatcher.drop(call.item)
            self._settle(call, FaultError(_CLOSED))
        while self._arrived and dispatcher.has_room:
            call = self._arrived.popleft()
            if call.future.done():
                continue
            try:
                call.item = dispatcher.add(call.order, call.rollout, 0)
            except Exception as error:  # the others are not to fail with it
                self._settle(call, error)
                continue
            self._under_way[call.item.number] = call
        dispatcher.measure = any(call.measure for call in self._under_way.values())
        for batch in dispatcher.wait(_IDLE_S):
            for item, grade in zip(batch.items, batch.grades, strict=True):
                found = self._under_way.pop(item.number, None)
                if found is not None:
                    self._settle(found, Answer(grade, batch.spent))

    def _drained(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._reader, 4096)

    def _fail(self, error: BaseException) -> None:
        """All who wait get the error."""
        with self._lock:
            calls = [*self._arrived, *self._under_way.values()]
            self._arrived.clear()
            self._under_way.clear()
        for call in calls:
            self._settle(call, error)

    def _settle(self, call: Call, result: Answer | BaseException) -> None:
        with contextlib.suppress(Exception):  # it was cancelled meanwhile
            if isinstance(result, BaseException):
                call.future.set_exception(result)
            else:
                call.future.set_result(result)


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
        if found is not None and all(map(_same, found[1], fields)) and found[2] == changing:
            return found[0]
        order = Order(next(self._numbers), copy.copy(task), options)
        self._known[key] = order, fields, copy.deepcopy(changing)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return order


def _same(one: object, other: object) -> bool:
    return one is other


_Key = tuple[EngineName, str | None, Settings, str | None, bool]
_services: dict[_Key, Service] = {}
_services_lock = threading.Lock()


def service(engine: EngineName, address: str | None, options: Options, *, borrows: bool = False) -> Service:
    """The processes for such calls in this process, or a server's, or the machines of the cluster at this address."""
    file = options.grader if engine == "ray" and ".py:" in (options.grader or "") else None
    key = (engine, address, options.sandbox, file, borrows)
    with _services_lock:
        found = _services.get(key)
        if found is None:
            found = _services[key] = Service(engine, address, options, borrows=borrows)
        return found


def close() -> None:
    """Ends all of them; the next call starts new ones."""
    with _services_lock:
        closing = list(_services.values())
        _services.clear()
    for each in closing:
        each.close()


def _renew_in_child() -> None:
    global _services, _services_lock
    _services, _services_lock = {}, threading.Lock()


os.register_at_fork(after_in_child=_renew_in_child)
atexit.register(close)
