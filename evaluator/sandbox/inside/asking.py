"""The check's side of the conversation with the completion's process."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from evaluator.sandbox.inside import (
    arrays,
    channel,
    crossing,
    given,
    kept,
    named,
    operations,
    stand_ins,
    states,
    talk,
)

_MOST_CALLS, _MOST_DEPTH = 100_000, 100
_MEMORY, _HEAD = 8, 12
"""Before an answer stand eight bytes of memory used, and four that say how long the report is that follows."""
_REPORT_ROOM = 64 * 1024
_NOT_CAPTURED = [False, False]
_UNASKED = "an answer that nobody asked for"
_TOO_LARGE = "the values that it returned are larger than limits.output_mb"
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


class Completion:
    """The completion, as the check knows it: asks it, and answers what it asks in its turn."""

    def __init__(self, connection: int, order: dict[str, Any], namespace: dict[str, Any]) -> None:
        self._parent = connection
        self._write, self._read = os.write, os.read
        self._namespace = namespace
        self._uses = frozenset(order["uses"])
        self._class_names: list[str] = order["classes"]
        self.mentioned = frozenset(order["mentioned"])
        self._speaks_of_stopping = "StopIteration" in order["test"]
        self._catches = any(word in order["test"] for word in ("except", "aises("))
        self._for_next = False
        """Whether an item is asked for: `StopIteration` out of a call would end a loop of the test's over something
        else."""
        self.quiet = False
        self.operations = operations.Operations()
        self.classes: dict[str, type] = {}
        self.talk = talk.Talk(self, order["output_bytes"], self._send, self._receive)
        self.told = crossing.Told()
        self._own = given.Given()
        """What the completion knows by number."""
        self._theirs: dict[int, Any] = {}
        """What stands here for things of the completion's."""
        self._states = states.States(order["uses"])
        self._closes: list[int] = []
        self._lines: dict[str, int] | None = None
        """Where the functions begin that the completion's source defines, if the test may read that."""
        self._like: dict[type, Any] = {}
        self._streams = sys.stdout, sys.stderr
        self._captured = _NOT_CAPTURED
        self.made: set[int] = set()
        self.returned: set[int] = set()
        self.tested: set[int] = set()
        self.asked = 0
        """How often the completion has been asked for something, the names that it has apart."""
        self.asked_now = 0
        """As often in this test case."""
        self.failed_assert: AssertionError | None = None
        """Of an assert in a function of the test's that the completion has called, until that has let it through."""
        self.memory_kib = 0
        self._cap = self._room = order["output_bytes"] + _REPORT_ROOM
        self._reports: list[str] = []
        """What the completion told of each exception that it has answered with."""
        self.unsure_of: list[str] = []
        self.subclasses: list[str] = []

    def read_source(self, source: str) -> None:
        """Lets the test read the completion's source, as the parent has it, by the names that it defines."""
        self._lines = stand_ins.show_source(source)

    def look_up(self, names: list[str]) -> tuple[dict[str, Any], list[str]]:
        """Functions and classes that the completion has by these names, and those names that mean its data."""
        found = self._told_names(names)
        self.asked -= 1
        lines = self._lines or {}
        for name, value in found.items():
            if name in lines and isinstance(value, stand_ins.Function):
                value.__dict__["_line"] = lines[name]
        return (
            {name: value for name, value in found.items() if value is not None},
            [name for name, value in found.items() if value is None],
        )

    def _told_names(self, names: list[str]) -> dict[str, Any]:
        """What the completion has by the names that it was asked for; by others it has nothing to say here."""
        told = self.ask("l", names)
        pairs = told if type(told) is tuple else (None,)
        if not all(type(pair) is tuple and len(pair) == 2 and pair[0] in names for pair in pairs):
            self._stop(b"B", "an answer with names that nobody asked for")
        found = dict(pairs)
        if not all(value is None or callable(value) for value in found.values()):
            self._stop(b"B", "a name that means neither data nor code")
        self.tested.update(map(id, found.values()))
        if not all(value is None or isinstance(value, stand_ins.Function) for value in found.values()):
            self.operations.plain = False
        return found

    def know_classes(self) -> None:
        """The dataset's own classes are those that its source has defined by now."""
        for name in self._class_names:
            kind = dict.get(self._namespace, name)
            if isinstance(kind, type) and not isinstance(kind, stand_ins.Classes):
                self.classes[name] = kind

    def ask(self, *request: Any) -> Any:
        self.asked += 1
        self.asked_now += 1
        self.operations.note(request)
        self._for_next = request[2:3] == ("__next__",) or type(request[1]) is stand_ins.Handle
        if self.asked > _MOST_CALLS:
            self._stop(b"O", f"more than {_MOST_CALLS:,} calls between the test and the completion")
        if self.talk.depth >= _MOST_DEPTH:
            self._stop(b"T", f"calls between the completion and the test are nested deeper than {_MOST_DEPTH}")
        try:
            return self.talk.ask(*request)
        except crossing.BadLetterError as error:
            self._stop(b"B", str(error))
        except crossing.TooLargeError:
            self.give_up("the test passes more to the completion than limits.output_mb")
        except (crossing.NoDataError, arrays.UnfaithfulError) as error:
            self.give_up(f"the test passes {error} to the completion")

    def call(self, target: object, name: str | None, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """What a function answers, or the method of this name."""
        return self.ask("c", target, name, arguments, *[part for pair in keywords.items() for part in pair])

    def unsure(self, reason: str) -> None:
        """Part of what the check finds is decided by the completion's own code."""
        if reason not in self.unsure_of:
            self.unsure_of.append(reason)

    def give_up(self, reason: str) -> NoReturn:
        """The check can't be run in a process of its own."""
        self.operations.plain = False
        self._stop(b"U", reason)

    def nothing_to_call(self, name: str) -> NoReturn:
        self._stop(b"T", f"{name} is no function and no class")

    def _stop(self, kind: bytes, text: str) -> NoReturn:
        """The last word to the parent."""
        done = self.operations
        word = {"text": _shown(text), "final": done.final, "last": _shown(done.last)}
        channel.send(self._parent, kind, channel.as_json(word), self._write)
        os._exit(0)

    def _send(self, kind: bytes, text: bytes) -> None:
        try:
            channel.send(channel.PEER_DESCRIPTOR, kind, text, self._write)
        except OSError:
            self._stop(b"E", "")

    def _receive(self) -> tuple[bytes, bytes]:
        """The next frame of the completion's process, within its room: what stands before an answer is taken off."""
        try:
            kind, payload = channel.receive_alone(channel.PEER_DESCRIPTOR, self._read, self._room)
        except (channel.ClosedError, OSError):
            self._stop(b"E", "")
        except channel.UnaskedError:
            self._stop(b"B", _UNASKED)
        except channel.TooLongError:
            self._stop(b"O", _TOO_LARGE)
        self._room -= len(payload)
        if kind == b"Q":
            return kind, payload
        if kind == b"O":
            self._stop(b"O", _TOO_LARGE)
        if kind not in (b"V", b"X"):
            self._stop(b"B", "a frame of a kind that has no place here")
        self.memory_kib = max(self.memory_kib, int.from_bytes(payload[:_MEMORY], "big"))
        end = _HEAD + int.from_bytes(payload[_MEMORY:_HEAD], "big")
        if kind == b"X":
            self._reports.append(payload[_HEAD:end].decode("utf-8", "replace"))
        return kind, payload[end:]

    def begin(self) -> None:
        """Before each test case: what the parent holds a completion to, for each, is counted anew."""
        self._room = self._cap
        self.operations.begin()
        self.subclasses = []
        self.asked_now = 0
        self.failed_assert = None

    def report(self, failure: int | None) -> str:
        """What the completion told of the exception with that number."""
        return self._reports[failure] if failure is not None and 0 <= failure < len(self._reports) else ""

    def unasked(self) -> None:
        """After each test case: nothing of the completion's may wait to be read."""
        if channel.has_input(channel.PEER_DESCRIPTOR):
            self._stop(b"B", _UNASKED)

    def raised(self, error: Any) -> NoReturn:
        """The completion has answered with an exception: it is the test's to see, but one that would end a process."""
        number = len(self._reports) - 1
        if self._own.number_of(error) is not None:
            self.failed_assert = None
            raise error  # the test's own has come back
        expected = isinstance(error, Exception) or (isinstance(error, SystemExit) and "exits" in self._uses)
        stops = isinstance(error, StopIteration) and not (self._for_next or self._speaks_of_stopping)
        if not expected or (stops and not self._catches):
            self._stop(b"Y", self.report(number))
        if stops:
            self.unsure("a call of the completion's raised StopIteration, which can end a loop of the test's")
        error._rollscope_failure = number
        raise error

    def failed(self, error: BaseException) -> None:
        """A function of the test's has raised where the completion called it: whether an assert of it has failed."""
        if isinstance(error, AssertionError) and not hasattr(error, "_rollscope_failure"):
            self.failed_assert = error

    def too_large(self) -> NoReturn:
        self.give_up("the test passes more to the completion than limits.output_mb")

    def unsent(self, error: Exception) -> object:
        self.give_up(f"the test passes {error} to the completion")

    def outgoing(self) -> object:
        extras: dict[str, Any] = {}
        out, err = self._streams
        captured = [sys.stdout is not out, sys.stderr is not err]
        if captured != self._captured or captured != _NOT_CAPTURED:
            extras["o"] = captured
            self._captured = captured
        changed = self._states.changed()
        if self._states.drawn:
            self.unsure("the test drew random numbers from a state that the completion had set")
        if changed:
            extras["s"] = changed
        if self._closes:
            extras["c"] = self._closes[:]
            self._closes.clear()
        return extras or None

    def incoming(self, extras: Any) -> None:
        if type(extras) is not dict:
            raise crossing.BadLetterError("extras of no known kind")
        written = extras.get("o", ("", ""))
        if len(written) != len(self._streams) or not all(type(text) is str for text in written):
            raise crossing.BadLetterError("output that is no text")
        for stream, text, captured in zip((sys.stdout, sys.stderr), written, self._captured, strict=True):
            if text and captured:
                stream.write(text)
        try:
            self._states.take(extras.get("s"))
        except Exception as error:  # whatever is made of what was not expected
            raise crossing.BadLetterError(str(error)) from None

    def perform(self, request: list[Any]) -> Any:
        """What the completion asks for: a call of a function that it was given, or the next item of an iterator."""
        match request:
            case ["c", number, tuple() as arguments, *keywords]:
                names = keywords[::2]
                if len(keywords) % 2 or not all(type(name) is str for name in names):
                    raise crossing.BadLetterError("arguments of no kind")
                function = self._own.get(number)
                request.clear()
                return function(*arguments, **dict(zip(names, keywords[1::2], strict=True)))
            case ["n", number]:
                return self._next(self._own.get(number))
            case _:
                raise crossing.BadLetterError("a request of no known kind")

    def _next(self, iterator: Any) -> tuple[bool, Any]:
        if not hasattr(iterator, "__next__"):
            raise crossing.BadLetterError("an item of what is no iterator")
        try:
            return (True, next(iterator))
        except StopIteration as error:
            return (False, error.value)

    def lower(self, value: Any, kind: type, letter: crossing.Letter) -> Any:
        if kind is stand_ins.Handle:
            return {"H": value.number}
        if kind is stand_ins.Method:
            return self.lower(value.fetched(), stand_ins.Function, letter)
        number = self._own.number_of_stand_in(value)
        if number is not None:
            return {"H": number}
        lowered = named.lower_named(value, kind, letter, self._is_dataset_class)
        if lowered is not None:
            self.operations.plain &= not lowered.keys().isdisjoint("QN")
            return lowered
        self.operations.plain = False
        if issubclass(kind, BaseException):
            return {"e": [self._own.number(value), named.lower_exception(value, letter)]}
        if issubclass(kind, types.GeneratorType) or given.is_iterator(kind):
            return {"h": [self._own.number(value), "iterator", None]}
        if issubclass(kind, type):
            raise crossing.NoDataError(f"the class {getattr(value, '__name__', '')}")
        if callable(value):
            what = "method" if given.is_method(value) else "function"
            return {"h": [self._own.number(value), what, _told_of(value, letter)]}
        raise crossing.NoDataError(f"an object of class {kind.__name__}")

    def _is_dataset_class(self, kind: Any) -> bool:
        name: str = kind.__name__
        if self.classes.get(name) is not kind and name in self._class_names:
            self.know_classes()
        return self.classes.get(name) is kind

    def build(self, tag: str, payload: Any, letter: crossing.Letter) -> Any:
        if tag == "H":
            return self._own.get(payload)
        if tag == "h":
            return self._stand_in(payload, letter)
        if tag == "e":
            return self._exception(payload, letter)
        if tag == "l":
            return self._of_base(payload, letter)
        if tag == "o":
            what, own = payload
            if not own and ("pandas" in self._uses or "numpy" in self._uses):
                self.give_up(f"the completion answers with {str(what)[:200]}")
            return stand_ins.NoData(str(what))
        built = named.build_named(tag, payload, letter, self.classes)
        if built is NotImplemented:
            raise crossing.BadLetterError(f"unknown tag {tag!r}")
        if tag == "N":
            self.operations.lost_class = True
            self.doubt_held(built, built)
        return built

    def _exception(self, payload: Any, letter: crossing.Letter) -> BaseException:
        number, parts = payload
        error = named.build_exception(parts, letter)
        self.doubt_held(error, vars(error).values())
        if type(number) is int and isinstance(type(error), stand_ins.ExceptionClasses):
            error.__dict__["_rollscope_there"] = True
            self._own.stands_for(error, number)
        return error

    def _of_base(self, payload: Any, letter: crossing.Letter) -> Any:
        """The value of a class's base; and what that class has for itself, by which it would say otherwise."""
        told, node = payload
        self.operations.lost_class = True
        if told:
            self.operations.refuse()
            if len(self.subclasses) < _MOST_SUBCLASSES:
                self.subclasses.append(_shown(str(told)[:200]))
        return letter.build(node)

    def doubt_held(self, value: object, parts: Iterable[Any]) -> None:
        """What can be called as a method of it is the completion's."""
        if any(isinstance(part, stand_ins.Function | stand_ins.Remote | stand_ins.Classes) for part in parts):
            self.unsure(f"an object of class {type(value).__name__} holds functions or objects of the completion's")

    def filled(self, value: object) -> None:
        self.operations.plain = False
        hidden = [
            part
            for name, part in kept.fields(value).items()
            if isinstance(getattr(type(value), name, None), types.FunctionType)
        ]
        self.doubt_held(value, hidden)

    def _stand_in(self, payload: Any, letter: crossing.Letter) -> Any:
        number, what, detail = payload
        if type(number) is not int:
            raise crossing.BadLetterError("a number of nothing")
        if number not in self._theirs:
            if len(self._theirs) > _MOST_STAND_INS:
                raise crossing.BadLetterError("too many objects")
            made = _MAKERS[what](self, number, detail, letter)
            self._theirs[number] = made
            self._own.stands_for(made, number)
        else:
            self.returned.add(id(self._theirs[number]))
        return self._theirs[number]

    def _class(self, _number: int, detail: Any, letter: crossing.Letter) -> Any:
        name, text, base_nodes, special, methods, library, plain = detail
        bases = [base for base in map(letter.build, base_nodes) if isinstance(base, type)]
        texts = [name, *special, *methods, *([text] if text is not None else ())]
        if not all(type(each) is str for each in texts):
            raise crossing.BadLetterError("a class that is described by no texts")
        return stand_ins.class_of(
            self, name, text, bases, special, methods, library=bool(library), plain=letter.build(plain)
        )

    def _function(self, _number: int, detail: Any, _letter: crossing.Letter) -> Any:
        name, text, awaited = detail
        if type(name) is not str or not (text is None or type(text) is str):
            raise crossing.BadLetterError("a function that is described by no texts")
        return stand_ins.Function(self, name, text, bool(awaited))

    def _object(self, _number: int, detail: Any, letter: crossing.Letter) -> Any:
        kind_node, plain_node = detail
        kind, plain = letter.build(kind_node), letter.build(plain_node)
        if not isinstance(kind, type):
            raise crossing.BadLetterError("an object of no class")
        if not isinstance(kind, stand_ins.Classes):
            if kind not in self._like:
                self._like[kind] = stand_ins.class_like(self, kind)
            kind = self._like[kind]
        return stand_ins.object_of(kind, plain)

    def _iterator(self, number: int, detail: Any, _letter: crossing.Letter) -> Any:
        return (stand_ins.Generator if detail else stand_ins.Iterator)(self, number, self._closes)

    def _coroutine(self, number: int, _detail: Any, _letter: crossing.Letter) -> Any:
        return stand_ins.coroutine(self, number)

    def _async_iterator(self, number: int, _detail: Any, _letter: crossing.Letter) -> Any:
        return stand_ins.async_iterator(self, number)


def _shown(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _told_of(function: Any, letter: crossing.Letter) -> list[Any]:
    """Name, text, parameters, where there is something to say of them, and annotations, if all are data or classes."""
    told = (getattr(function, "__name__", "function"), getattr(function, "__doc__", None))
    parameters = None
    if isinstance(function, _FUNCTIONS):
        with contextlib.suppress(ValueError, TypeError):
            parameters = given.parameters(function)
    annotations = getattr(function, "__annotations__", {})
    texts = [each if isinstance(each, str) else "" for each in told]
    return [*texts, letter.lower_or(parameters, None), letter.lower_or(annotations, {})]


_MOST_STAND_INS, _MOST_SUBCLASSES = 200_000, 3
_MAKERS: dict[str, Callable[..., Any]] = {
    "class": Completion._class,
    "function": Completion._function,
    "object": Completion._object,
    "iterator": Completion._iterator,
    "coroutine": Completion._coroutine,
    "async iterator": Completion._async_iterator,
}
