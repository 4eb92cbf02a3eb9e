"""A completion that a check in another process works with: loaded once, then it does what it is asked for.

It is called with data, and answers with data; what is no data stays here and is known to the check by a number.
"""

from __future__ import annotations

import functools
import operator
import os
import resource
import sys
import types
from types import CodeType, ModuleType
from typing import Any, NoReturn

from evaluator.sandbox.inside import channel, crossing, encode, failures, given, loading, named, states, talk
from evaluator.sandbox.inside.loading import flush


def serve(connection: int, code: CodeType, preamble: CodeType | None, order: dict[str, Any]) -> None:
    """Loads the completion; then answers requests, and `G`, the farewell, with a `G`."""
    write, read, leave = os.write, os.read, os._exit
    support: dict[str, Any] = {}

    def know_support(known: dict[str, Any]) -> None:
        support.update(_support(order["support"], known))

    entry_point = order["entry_point"]
    namespace = loading.load(connection, code, preamble, entry_point, know_support).by_name(entry_point)
    side = Served(channel.PEER_DESCRIPTOR, namespace, support, order)
    try:
        while True:
            side.answer()
    except channel.ClosedError:  # the check has gone: the parent has the word
        pass
    try:
        channel.receive_raw(connection, read)
    except channel.ClosedError:
        leave(0)
    channel.send(connection, b"G", b"", write)
    leave(0)


def _support(source: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """The classes that the dataset's test defines for its data: known here too, where the completion has none such."""
    if not source:
        return {}
    module = sys.modules["support"] = ModuleType("support")
    module.__dict__.update(namespace, __name__="support")
    exec(compile(source, "support.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    return module.__dict__


class Served:
    """The completion's side of the conversation."""

    def __init__(
        self, connection: int, namespace: dict[str, Any], support: dict[str, Any], order: dict[str, Any]
    ) -> None:
        self._connection = connection
        self._namespace = namespace
        self._write, self._read = os.write, os.read
        self._mentioned = frozenset(order["mentioned"])
        self._class_names = frozenset(order["classes"])
        self.classes = {
            name: kind for name in order["classes"] if isinstance(kind := namespace.get(name, support.get(name)), type)
        }
        self.talk = talk.Talk(self, order["output_bytes"], self._send, self._receive)
        self.told = crossing.Told()
        self._own = given.Given()
        """What the check knows by number."""
        self._theirs: dict[int, Any] = {}
        """What stands here for things of the check."""
        self._states = states.States(order["uses"])
        self._output_from: list[int | None] = [None, None]
        """How much had been written to 1 and 2 before what is still to be told; None where nobody wants to know."""
        self._report = b""

    def answer(self) -> None:
        """Waits for a request and answers it. Raises `ClosedError`."""
        _, payload = channel.receive_alone(self._connection, self._read)
        self.talk.answer(payload)

    def _receive(self) -> tuple[bytes, bytes]:
        try:
            return channel.receive_alone(self._connection, self._read)
        except channel.ClosedError:
            os._exit(0)

    def _send(self, kind: bytes, text: bytes) -> None:
        if kind != b"Q":
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            report, self._report = self._report, b""
            text = memory.to_bytes(8, "big") + len(report).to_bytes(4, "big") + report + text
        channel.send(self._connection, kind, text, self._write)

    def too_large(self) -> NoReturn:
        channel.send(self._connection, b"O", b"", self._write)
        while True:  # until the parent ends this process
            self._receive()

    def unsent(self, error: Exception) -> object:
        kind = getattr(error, "kind", None)
        return Unsent(str(error), own=kind is not None and bool(encode.overridden(kind)))

    def failed(self, error: BaseException) -> None:
        self._report = channel.as_json({"failure": failures.report(error)})
        error.__traceback__ = None
        error.__context__ = None

    def raised(self, error: Any) -> NoReturn:
        raise error

    def incoming(self, extras: Any) -> None:
        self._states.take(extras.get("s"))
        for number in extras.get("c", ()):
            held = self._own.get(number)
            if hasattr(held, "close"):
                held.close()
        if "o" in extras:
            flush(sys.stdout, sys.stderr)
            self._output_from = [os.fstat(number).st_size if on else None for number, on in enumerate(extras["o"], 1)]

    def outgoing(self) -> object:
        extras: dict[str, Any] = {}
        if self._output_from != [None, None]:
            flush(sys.stdout, sys.stderr)
            written = [self._written(number) for number in (1, 2)]
            if any(written):
                extras["o"] = written
        changed = self._states.changed()
        if changed:
            extras["s"] = changed
        return extras or None

    def _written(self, number: int) -> str:
        """What has been written to a stream since this was last asked, where the check wants to have it."""
        start = self._output_from[number - 1]
        if start is None:
            return ""
        written = os.pread(number, os.fstat(number).st_size - start, start)
        self._output_from[number - 1] = start + len(written)
        return written.decode("utf-8", "backslashreplace")

    def perform(self, request: list[Any]) -> Any:
        """What the check asks for: the first part says what, the second of which object."""
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
        """Of each name, what the completion has by it: nothing, a function or class, or `None` for data."""
        found = {}
        for name in names:
            if name in self._namespace:
                value = self._namespace[name]
                is_code = isinstance(value, type | types.FunctionType | types.BuiltinFunctionType) or callable(value)
                found[name] = value if is_code else None
        return tuple(found.items())

    def _global(self, name: str) -> Any:
        return self._namespace[name]

    def _await(self, awaitable: Any) -> Any:
        return states.awaited(awaitable)

    def _next_awaited(self, iterator: Any) -> Any:
        try:
            return (True, states.awaited(anext(iterator)))
        except StopAsyncIteration:
            return (False, None)

    def lower(self, value: Any, kind: type, letter: crossing.Letter) -> Any:
        number = self._own.number_of_stand_in(value)
        if number is not None:
            return {"H": number}
        if kind is Unsent:
            return {"o": [value.what[:300], value.own]}
        if not (issubclass(kind, tuple) and _has_methods(kind) and self._is_mentioned(kind)):
            lowered = named.lower_named(value, kind, letter, self._is_dataset_class)
            if lowered is not None:
                return lowered
        if issubclass(kind, BaseException):
            number = self._own.number(value) if kind.__module__ in given.OWN_MODULES else None
            return {"e": [number, named.lower_exception(value, letter)]}
        if not self._is_mentioned(kind):
            plain = encode.base_value(value, kind)
            if plain is not encode.NOT_DATA:
                return {"l": [encode.overridden(kind), letter.lower(plain)]}
        return {"h": self._own.described(value, kind, letter, self.told)}

    def _is_dataset_class(self, kind: Any) -> bool:
        return kind.__name__ in self._class_names and kind.__module__ in given.OWN_MODULES

    def _is_mentioned(self, kind: type) -> bool:
        return any(one.__name__ in self._mentioned and one.__module__ in given.OWN_MODULES for one in kind.__mro__)

    def build(self, tag: str, payload: Any, letter: crossing.Letter) -> Any:
        if tag == "H":
            return self._own.get(payload)
        if tag == "h":
            number, what, told = payload
            return self._stand_in(number, what, told, letter)
        if tag == "e":
            return self._exception(payload, letter)
        return named.build_named(tag, payload, letter, self.classes)

    def filled(self, value: object) -> None:
        """An object of the dataset's has got its fields."""

    def _exception(self, payload: Any, letter: crossing.Letter) -> BaseException:
        number, parts = payload
        error = named.build_exception(parts, letter)
        self._own.stands_for(error, number)
        return error

    def _stand_in(self, number: int, kind: str, told: Any, letter: crossing.Letter) -> Any:
        """A function or an iterator of the check's, which is asked when this is called."""
        if kind == "method":  # Python makes a new one whenever one is asked for
            method = Method(_function_of(self, number, told, letter), number)
            self._own.stands_for(method, number)
            return method
        if number not in self._theirs:
            made = _function_of(self, number, told, letter) if kind == "function" else _iterator_of(self, number)
            self._theirs[number] = made
            self._own.stands_for(made, number)
        return self._theirs[number]


class Method:
    """A bound method of something of the check's: equal to another of the same, and not the same object."""

    def __init__(self, function: Any, number: int) -> None:
        functools.update_wrapper(self, function)
        self._function, self._number = function, number

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._function(*arguments, **keywords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Method) and other._number == self._number

    def __hash__(self) -> int:
        return hash(self._number)


class Unsent:
    """Stands for a value that can't be sent."""

    def __init__(self, what: str, *, own: bool) -> None:
        """`own`: whether it is of a class of the completion's own."""
        self.what = what
        self.own = own


def _has_methods(kind: type) -> bool:
    """Whether a class of tuples has more than the names of its fields."""
    own = type.__dict__["__dict__"].__get__(kind).items()
    return any(isinstance(value, types.FunctionType | property) and not name.startswith("_") for name, value in own)


def _function_of(side: Served, number: int, told: Any, letter: crossing.Letter) -> Any:
    name, text, *nodes = told
    parameters, annotations = map(letter.build, nodes)

    def function(*arguments: Any, **keywords: Any) -> Any:
        return side.talk.ask("c", number, arguments, *[part for pair in keywords.items() for part in pair])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text or None
    function.__annotations__ = annotations
    if parameters is not None:
        function.__signature__ = given.signature(parameters, annotations)  # type: ignore[attr-defined]
    return function


def _iterator_of(side: Served, number: int) -> Any:
    while True:
        going_on, value = side.talk.ask("n", number)
        if not going_on:
            return value
        yield value


_REQUESTS: dict[str, Any] = {
    "c": Served._call,
    "n": Served._next,
    "l": Served._look_up,
    "g": Served._global,
    "w": Served._await,
    "m": Served._next_awaited,
    "p": lambda _, target: given.parameters(target),
    "a": lambda _, target, name: getattr(target, name),
    "b": lambda _, target, name: tuple(target) if name == "iter" else len(target),
    "v": lambda _, target: encode.base_value(target, type(target)),
    "s": lambda _, target, name, value: setattr(target, name, value),
    "d": lambda _, target, name: delattr(target, name),
    "o": lambda _, target, name, *operands: getattr(operator, name)(target, *operands),
    "u": lambda _, target, name, *operands: getattr(type(target), name)(target, *operands),
}
