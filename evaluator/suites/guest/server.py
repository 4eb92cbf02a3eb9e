"""A completion that a test in another process uses: it is loaded once, then it answers requests.

Arguments and results are data; objects that are not data stay here, and the test knows them by number.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
from types import CodeType
from typing import Any, NoReturn

from evaluator.sandbox.guest import channel, encode, failures, loading
from evaluator.sandbox.guest.encode import OWN_MODULES
from evaluator.sandbox.guest.loading import flush
from evaluator.suites.guest import named_values, shared_state
from evaluator.suites.guest.errors import NotDataError
from evaluator.suites.guest.exchange import Exchange, Turn
from evaluator.suites.guest.serialization import Message

_fstat, _pread, _usage = os.fstat, os.pread, resource.getrusage
"""The test may replace these names with mocks."""


def serve(connection: int, code: CodeType, preamble: CodeType | None, order: dict[str, Any]) -> None:
    """Loads the completion; then answers requests, and `G`, the end of the session, with a `G`."""
    write, read, leave = os.write, os.read, os._exit
    entry_point = order["entry_point"]
    namespace = loading.load(connection, code, preamble, entry_point).by_name(entry_point)
    _import_as_test(order["imports"], namespace)
    server = Server(channel.PEER_DESCRIPTOR, namespace, order, handles_signals=_names(code, "signal"))
    try:
        while True:
            server.answer()
    except channel.ClosedError:  # the test has ended: the parent decides
        pass
    try:
        channel.receive_raw(connection, read)
    except channel.ClosedError:
        leave(0)
    channel.send(connection, b"G", b"", write)
    leave(0)


def _import_as_test(imports: list[str], namespace: dict[str, Any]) -> None:
    """In benchmarks' own graders test and completion are one module, so the completion gets the test's imports."""
    for source in imports:
        with contextlib.suppress(Exception):
            exec(source, namespace)  # noqa: S102


def _names(code: CodeType, name: str) -> bool:
    """Whether the code has this name anywhere."""
    return name in code.co_names or any(_names(each, name) for each in code.co_consts if isinstance(each, CodeType))


class Server(Exchange):
    """The completion's side of the connection."""

    def __init__(
        self, connection: int, namespace: dict[str, Any], order: dict[str, Any], *, handles_signals: bool = False
    ) -> None:
        super().__init__()
        self._connection = connection
        self._namespace = namespace
        self._mentioned = frozenset(order["mentioned"])
        self._class_names = frozenset(order["classes"])
        self.classes = {name: kind for name in order["classes"] if isinstance(kind := namespace.get(name), type)}
        self.turn = Turn() if handles_signals else self.turn
        self.turn.acquire()  # until a request comes, and from its answer on
        self._mocks = shared_state.Replacements()
        self._output_from: list[int | None] = [None, None]
        """How much of 1 and 2 has been reported to the test; None if it does not need them."""
        self._report = b""

    def answer(self) -> None:
        """Waits for a request and answers it. Raises `ClosedError`."""
        _, payload = channel.receive_alone(self._connection, self._read)
        self.respond(payload, holds_turn=True)

    def _receive(self) -> tuple[bytes, bytes]:
        try:
            return channel.receive_alone(self._connection, self._read)
        except channel.ClosedError:
            os._exit(0)

    def _send(self, kind: bytes, text: bytes) -> None:
        if kind != b"Q":
            memory = _usage(resource.RUSAGE_SELF).ru_maxrss
            report, self._report = self._report, b""
            text = memory.to_bytes(8, "big") + len(report).to_bytes(4, "big") + report + text
        channel.send(self._connection, kind, text, self._write)

    def too_large(self) -> NoReturn:
        channel.send(self._connection, b"O", b"", self._write)
        while True:  # until the parent ends this process
            self._receive()

    def unsent(self, error: NotDataError, value: object) -> object:
        own = any(_overrides(kind) for kind in (error.kind or object, type(value)) if not self._is_mentioned(kind))
        return _Unsent(str(error), own=own)

    def failed(self, error: BaseException) -> None:
        self._report = channel.as_json({"failure": failures.report(error)})
        error.__traceback__ = error.__context__ = None

    def raised(self, error: Any) -> NoReturn:
        raise error

    def incoming(self, extras: Any) -> None:
        self.table.drop(extras.get("d", []))
        shared_state.apply(extras)
        if "o" in extras:
            flush(*loading.STREAMS[1:])
            self._output_from = [_fstat(number).st_size if on else None for number, on in enumerate(extras["o"], 1)]

    def outgoing(self) -> object:
        extras: dict[str, Any] = {}
        if self._output_from != [None, None]:
            flush(*loading.STREAMS[1:])
            output = [self._output_of(number) for number in (1, 2)]
            if any(output):
                extras["o"] = output
        dropped = self.table.drop_unheld()
        if dropped:
            extras["d"] = dropped
        return extras or None

    def _output_of(self, number: int) -> str:
        """The output to a stream since the last call of this."""
        start = self._output_from[number - 1]
        if start is None:
            return ""
        written = _pread(number, _fstat(number).st_size - start, start)
        self._output_from[number - 1] = start + len(written)
        return written.decode("utf-8", "backslashreplace")

    def perform(self, request: list[Any]) -> Any:
        """Performs a request of the test: its kind, then the object and arguments."""
        what, *parts = request
        request.clear()
        return _REQUESTS[what](self, *parts)

    def _call(self, target: Any, name: str | None, arguments: tuple[Any, ...], *keywords: Any) -> Any:
        function = target if name is None else getattr(target, name)
        if keywords:
            return function(*arguments, **dict(zip(keywords[::2], keywords[1::2], strict=True)))
        return function(*arguments)

    def _next(self, iterator: Any) -> Any:
        try:
            return (True, next(iterator))
        except StopIteration as error:
            return (False, error.value)

    def _look_up(self, names: list[str]) -> Any:
        """The completion's names among these: with the function or class, or `None` for data."""
        values = [(name, self._namespace[name]) for name in names if name in self._namespace]
        return tuple((name, value if callable(value) else None) for name, value in values)

    def lower(self, value: Any, kind: type, message: Message) -> Any:
        number = self._own.number_of_proxy(value)
        if number is not None:
            return {"H": number}
        if kind is _Unsent:
            return {"o": [value.what[:300], value.own]}
        lowered = named_values.lower_named(value, kind, message, self._is_dataset_class)
        if lowered is not None:
            return lowered
        if issubclass(kind, BaseException):
            number = self._own.number(value) if kind.__module__ in OWN_MODULES else None
            return {"e": [number, named_values.lower_exception(value, message)]}
        if not self._is_mentioned(kind):
            base = encode.base_value(value, kind)
            if base is not encode.NOT_DATA:
                return {"l": [encode.overridden(kind), message.lower(base)]}
        return {"h": self._own.described(value, kind, message)}

    def _is_dataset_class(self, kind: Any) -> bool:
        return kind.__name__ in self._class_names and kind.__module__ in OWN_MODULES

    def _is_mentioned(self, kind: type) -> bool:
        return any(one.__name__ in self._mentioned and one.__module__ in OWN_MODULES for one in kind.__mro__)

    def build(self, tag: str, payload: Any, message: Message) -> Any:
        if tag != "e":
            return super().build(tag, payload, message)
        number, parts = payload
        error = named_values.build_exception(parts, message)
        self._own.add_proxy(error, number)
        return error

    def _proxy(self, payload: Any, message: Message) -> Any:
        """The proxy of a function, iterator or mock of the test."""
        number, what, detail = payload
        made: Any = self._theirs.get(number)
        if made is None:
            if what == "iterator":
                made = _iterator(self, number)
            elif what == "mock":
                made = shared_state.MockProxy(self.request, number)
            else:
                made = _function(self, number, detail, message)
            self._theirs[number] = made
        if what == "method":  # Python creates a new one at each access
            made = _Method(made, number)
        self._own.add_proxy(made, number)
        return made


class _Method:
    """A bound method of an object of the test: equal to another of the same, but not the same object."""

    def __init__(self, function: Any, number: int) -> None:
        functools.update_wrapper(self, function)
        self._function, self._number = function, number

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._function(*arguments, **keywords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Method) and other._number == self._number

    def __hash__(self) -> int:
        return hash(self._number)


class _Unsent:
    """Replaces a value that can't be sent."""

    def __init__(self, what: str, *, own: bool) -> None:
        """`own`: whether its class is the completion's and overrides a library's methods."""
        self.what = what
        self.own = own


def _overrides(kind: type) -> bool:
    """Whether a subclass that the completion defines overrides methods of its library base."""
    own = [one for one in kind.__mro__ if one.__module__ in OWN_MODULES]
    base = next(one for one in kind.__mro__ if one not in own)
    return base is not object and any(
        hasattr(base, name) for one in own for name, value in vars(one).items() if callable(value)
    )


def _function(server: Server, number: int, detail: Any, message: Message) -> Any:
    name, text, *nodes = detail
    parameters, annotations = map(message.build, nodes)

    def function(*arguments: Any, **keywords: Any) -> Any:
        return server.request("c", number, arguments, *[part for pair in keywords.items() for part in pair])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text or None
    function.__annotations__ = annotations
    if parameters is not None:
        function.__signature__ = named_values.signature(parameters, annotations)  # type: ignore[attr-defined]
    return function


def _iterator(server: Server, number: int) -> Any:
    while True:
        has_item, value = server.request("n", number)
        if not has_item:
            return value
        yield value


_REQUESTS: dict[str, Any] = {
    "c": Server._call,
    "n": Server._next,
    "l": Server._look_up,
    "g": lambda server, name: server._namespace[name],
    "p": lambda server, *replaced: server._mocks.replace(*replaced),
    "r": lambda server, *replaced: server._mocks.restore(*replaced),
    "a": lambda _, target, name: getattr(target, name),
    "s": lambda _, target, name, value: setattr(target, name, value),
    "d": lambda _, target, name: delattr(target, name),
}
