"""The test's side of the connection with the completion's process."""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from evaluator.sandbox.guest import channel
from evaluator.suites.guest import named_values, proxies, shared_state
from evaluator.suites.guest.errors import BadMessageError, Doubt, GaveUp, NotDataError, TooLargeError
from evaluator.suites.guest.exchange import MOST_CHARACTERS, Exchange
from evaluator.suites.guest.object_table import fields
from evaluator.suites.guest.serialization import Message, is_data

_MOST_CALLS, _MOST_DEPTH = 100_000, 100
_MOST_PROXIES, _MOST_SUBCLASSES = 200_000, 3
_MEMORY, _HEAD = 8, 12
"""An answer begins with eight bytes for the memory used and four for the length of the report that follows."""
_CASE_ROOM = 4 * MOST_CHARACTERS
"""For all that the completion answers in a test case, with its reports of exceptions."""
_SHARED_ROUGHLY = frozenset(("environment", "identity", "numpy_random", "random"))
"""Features of tests that two processes share only roughly."""
_NAN = re.compile(r"\bnan\b", re.IGNORECASE)
"""A list equals another with the same NaN in it, but not one with a NaN that has crossed."""
_PATCHES = ("p", "r")
"""Requests that replace and restore a name: they don't reach the completion's code."""
_NOT_CAPTURED = [False, False]
_UNREQUESTED = "an unrequested answer"
_TOO_LARGE = "the values that it returned are larger than {} MiB"


class Completion(Exchange):
    """The completion as the test sees it: sends requests to it, and answers requests from it."""

    def __init__(self, connection: int, order: dict[str, Any], namespace: dict[str, Any]) -> None:
        super().__init__()
        self._parent = connection
        self._namespace = namespace
        self._uses = frozenset(order["uses"])
        self._class_names: list[str] = order["classes"]
        self.mentioned = frozenset(order["mentioned"])
        self._mentions_stopping = "StopIteration" in order["test"]
        self._catches = any(word in order["test"] for word in ("except", "aises("))
        self._for_next = False
        """Whether an item of an iterator is requested: else a `StopIteration` could end another loop of the test."""
        self.quiet = False
        """No requests are sent while values are shown."""
        self.only_data = self._uses.isdisjoint(_SHARED_ROUGHLY) and not _NAN.search(order["test"])
        """Whether only plain data was involved so far: no proxy can have caused a failure, then."""
        self.refused = False
        """An answer's own class could not decide a comparison, or the completion suppressed a failed assert."""
        self._lost_class = False
        """Whether an answer crossed as its base class's value, without its class's methods."""
        self._shared = shared_state.State(self._uses)
        self._like: dict[type, Any] = {}
        self._streams = sys.stdout, sys.stderr
        self._captured = _NOT_CAPTURED
        self.made: set[int] = set()
        """Objects that the test itself has constructed, by `id`: they are under test, and not answers."""
        self.returned: set[int] = set()
        """Known objects that were in a later answer."""
        self.tested: set[int] = set()
        """Functions and classes that the test got by name."""
        self.requests = 0
        """How many requests the completion got, except those for its names."""
        self.case_requests = 0
        """The same for this test case."""
        self.failed_assert: AssertionError | None = None
        """From a failed assert in a function of the test that the completion called, until it is passed on."""
        self.memory_kib = 0
        self._room = _CASE_ROOM
        self._reports: list[str] = []
        """The completion's reports of the exceptions that it answered with."""
        self.unsure_of: list[str] = []
        self.subclasses: list[str] = []
        if "mocks" in self._uses:
            shared_state.follow_patches(self.ask)

    def look_up(self, names: list[str], tested: str | None = None) -> tuple[dict[str, Any], list[str]]:
        """The completion's functions and classes by these names, and the names that refer to its data.

        `tested`: the name of a function or class that must be among them.
        """
        answer = self.ask("l", names)
        self.requests -= 1
        pairs = answer if type(answer) is tuple else (None,)
        if not all(type(pair) is tuple and len(pair) == 2 and pair[0] in names for pair in pairs):
            self._stop(b"B", "an answer with unrequested names")
        values: dict[str, Any] = dict(pairs)
        if not all(value is None or callable(value) for value in values.values()):
            self._stop(b"B", "a name of neither data nor code")
        self.tested.update(map(id, values.values()))
        if not all(value is None or isinstance(value, proxies.Function) for value in values.values()):
            self.only_data = False
        code = {name: value for name, value in values.items() if value is not None}
        if tested is not None and tested not in code:
            self._stop(b"T", f"{tested} is not a function or class")
        return code, [name for name in values if name not in code]

    def know_classes(self) -> None:
        """Finds the dataset's own classes: those that its source has defined so far."""
        for name in self._class_names:
            kind = dict.get(self._namespace, name)
            if isinstance(kind, type) and not isinstance(kind, proxies.Classes):
                self.classes[name] = kind

    def ask(self, *request: Any) -> Any:
        if request[0] not in _PATCHES:
            self.requests += 1
            self.case_requests += 1
        self.only_data = self.only_data and not proxies.is_doubtful(*request[:3])
        self._for_next = request[2:3] == ("__next__",) or isinstance(request[1], proxies.Iterator)
        if self.requests > _MOST_CALLS:
            self._stop(b"O", f"more than {_MOST_CALLS:,} calls between the test and the completion")
        if self.depth >= _MOST_DEPTH:
            self._stop(b"T", f"calls between the completion and the test are nested deeper than {_MOST_DEPTH}")
        try:
            return self.request(*request)
        except BadMessageError as error:
            self._stop(b"B", str(error))
        except TooLargeError:
            self.give_up(GaveUp.PASSES_MORE)
        except NotDataError as error:
            self.give_up(GaveUp.PASSES.format(error))

    def call(self, target: object, name: str | None, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a function, or of the method with this name."""
        return self.ask("c", target, name, arguments, *[part for pair in keywords.items() for part in pair])

    def not_compared(self, other: object, *, decides: bool) -> None:
        """An object of the completion was not compared with `other`, which its class `decides` in one process or not.

        If `other` is data, this is final. Other objects may decide differently in one process.
        """
        kind = type(other)
        if not (is_data(kind) or kind in self.classes.values()):
            self.only_data = False
        elif decides:
            self.refused = True

    def unsure(self, reason: str) -> None:
        """The completion's own code decides a part of the test's result."""
        if reason not in self.unsure_of:
            self.unsure_of.append(reason)

    def give_up(self, reason: str) -> NoReturn:
        """The test can't run in a separate process."""
        self.only_data = False
        self._stop(b"U", reason)

    def _stop(self, kind: bytes, text: str) -> NoReturn:
        """The last message to the parent."""
        message = {"text": _shown(text), "final": self.final}
        channel.send(self._parent, kind, channel.as_json(message), self._write)
        os._exit(0)

    def _send(self, kind: bytes, text: bytes) -> None:
        try:
            channel.send(channel.PEER_DESCRIPTOR, kind, text, self._write)
        except OSError:
            self._stop(b"E", "")

    def _receive(self) -> tuple[bytes, bytes]:
        """The next frame from the completion's process, within its cap, without the head of an answer."""
        try:
            kind, payload = channel.receive_alone(channel.PEER_DESCRIPTOR, self._read, self._room)
        except (channel.ClosedError, OSError):
            self._stop(b"E", "")
        except channel.UnrequestedError:
            self._stop(b"B", _UNREQUESTED)
        except channel.TooLongError:
            self._stop(b"O", _TOO_LARGE.format(_CASE_ROOM >> 20))
        self._room -= len(payload)
        if kind == b"Q":
            return kind, payload
        if kind == b"O":
            self._stop(b"O", _TOO_LARGE.format(MOST_CHARACTERS >> 20))
        if kind not in (b"V", b"X"):
            self._stop(b"B", "a frame of an unexpected kind")
        self.memory_kib = max(self.memory_kib, int.from_bytes(payload[:_MEMORY], "big"))
        end = _HEAD + int.from_bytes(payload[_MEMORY:_HEAD], "big")
        if kind == b"X":
            self._reports.append(payload[_HEAD:end].decode("utf-8", "replace"))
        return kind, payload[end:]

    def begin(self) -> None:
        """Before each test case: resets the counters of limits per test case."""
        self._room = _CASE_ROOM
        self.refused = False
        self.subclasses = []
        self.case_requests = 0
        self.failed_assert = None

    @property
    def final(self) -> bool:
        """Whether a failure stands: plain data decided it, or an answer whose class would have decided by itself."""
        return self.only_data or self.refused

    def ended(self, result: dict[str, Any]) -> None:
        """After each test case: the test's own code may have missed a method that did not cross."""
        missed = result["status"] == "raised" and result["failure"] is None
        if missed and self._lost_class and result["type"] in ("AttributeError", "TypeError"):
            self.only_data = False

    def report(self, failure: int | None) -> str:
        """The completion's report of the exception with that number."""
        return self._reports[failure] if failure is not None and 0 <= failure < len(self._reports) else ""

    def require_silence(self) -> None:
        """After each test case: no message of the completion may be left."""
        if channel.has_input(channel.PEER_DESCRIPTOR):
            self._stop(b"B", _UNREQUESTED)

    def raised(self, error: Any) -> NoReturn:
        """The completion answered with an exception. It is raised in the test, unless it would end a process."""
        number = len(self._reports) - 1
        if self._own.number_of(error) is not None:
            self.failed_assert = None
            raise error  # the test's own exception
        expected = isinstance(error, Exception) or (isinstance(error, SystemExit) and "exits" in self._uses)
        stops = isinstance(error, StopIteration) and not (self._for_next or self._mentions_stopping)
        if not expected or (stops and not self._catches):
            self._stop(b"Y", self.report(number))
        if stops:
            self.unsure(Doubt.STOP_ITERATION)
        error._rollscope_failure = number
        raise error

    def failed(self, error: BaseException) -> None:
        """A function of the test that the completion called has raised: notes a failed assert."""
        if isinstance(error, AssertionError) and not hasattr(error, "_rollscope_failure"):
            self.failed_assert = error

    def too_large(self) -> NoReturn:
        self.give_up(GaveUp.PASSES_MORE)

    def unsent(self, error: NotDataError, _value: object) -> object:
        self.give_up(GaveUp.PASSES.format(error))

    def outgoing(self) -> object:
        extras: dict[str, Any] = {}
        captured = [sys.stdout is not self._streams[0], sys.stderr is not self._streams[1]]
        if captured != self._captured or captured != _NOT_CAPTURED:
            extras["o"] = self._captured = captured
        extras |= self._shared.changes()
        dropped = self.table.drop_unheld()
        if dropped:
            extras["d"] = dropped
        return extras or None

    def incoming(self, extras: Any) -> None:
        if type(extras) is not dict or not extras.keys() <= {"d", "o"}:
            raise BadMessageError("unknown extras")
        self._drop(extras.get("d", []))
        output = extras.get("o", ["", ""])
        if type(output) is not list or [type(text) for text in output] != [str, str]:
            raise BadMessageError("output that is not text")
        for stream, text, captured in zip((sys.stdout, sys.stderr), output, self._captured, strict=True):
            if text and captured:
                stream.write(text)

    def _drop(self, numbers: Any) -> None:
        """The completion's process has none of these objects any more."""
        table = self.table
        if type(numbers) is not list or not all(type(number) is int for number in numbers):
            raise BadMessageError("objects without numbers")
        if len(set(numbers)) != len(numbers) or not table.objects.keys() >= set(numbers):
            raise BadMessageError("the number of no object")
        table.drop(numbers)

    def perform(self, request: list[Any]) -> Any:
        """Answers a request of the completion: a call, the next item of an iterator, or an operation on a mock."""
        what, number, *parts = request
        request.clear()
        target = self._own.get(number)
        if what == "c":
            arguments, *keywords = parts
            if type(arguments) is not tuple or not all(type(name) is str for name in keywords[::2]):
                raise BadMessageError("malformed arguments")
            if _kind_of(target, type(target)) not in ("function", "method", "mock"):
                raise BadMessageError("a call of something that can't be called")
            return target(*arguments, **dict(zip(keywords[::2], keywords[1::2], strict=True)))
        if what == "n" and hasattr(target, "__next__"):
            try:
                return (True, next(target))
            except StopIteration as error:
                return (False, error.value)
        if not shared_state.is_mock(target) or type(parts[0]) is not str:
            raise BadMessageError("an unknown request")
        return shared_state.answer_for(what, target, *parts)

    def lower(self, value: Any, kind: type, message: Message) -> Any:
        if kind is proxies.Method:
            raise NotDataError(f"a method of the completion's, {value.__name__}")
        number = self._own.number_of_proxy(value)
        if number is not None:
            return {"H": number}
        lowered = named_values.lower_named(value, kind, message, self._is_dataset_class)
        if lowered is not None:
            self.only_data &= not lowered.keys().isdisjoint("QN")
            return lowered
        self.only_data = False
        if issubclass(kind, BaseException):
            return {"e": [self._own.number(value), named_values.lower_exception(value, message)]}
        what, is_known = _kind_of(value, kind), self._own.number_of(value) is not None
        if what is None:
            raise NotDataError(f"an object of class {getattr(value if kind is type else kind, '__name__', '')}")
        describes = what in ("function", "method") and not is_known
        return {"h": [self._own.number(value), what, named_values.description(value, message) if describes else None]}

    def _is_dataset_class(self, kind: Any) -> bool:
        name: str = kind.__name__
        if self.classes.get(name) is not kind and name in self._class_names:
            self.know_classes()
        return self.classes.get(name) is kind

    def build(self, tag: str, payload: Any, message: Message) -> Any:
        if tag == "e":
            return self._exception(payload, message)
        if tag == "l":
            return self._of_base(payload, message)
        if tag == "o":
            what, own = payload
            if not own:
                self.give_up(GaveUp.ANSWERS.format(str(what)[:200]))
            self.refused = True
            return proxies.NoData(str(what))
        built = super().build(tag, payload, message)
        if tag == "N":
            self._lost_class = True
            self._doubt_held(built, built)
        return built

    def _exception(self, payload: Any, message: Message) -> BaseException:
        number, parts = payload
        error = named_values.build_exception(parts, message)
        self._doubt_held(error, vars(error).values())
        if type(number) is int and isinstance(type(error), proxies.ExceptionClasses):
            error.__dict__["_rollscope_remote"] = True
            self._own.add_proxy(error, number)
        return error

    def _of_base(self, payload: Any, message: Message) -> Any:
        """The value of a class's base; notes the class's own methods that would have decided comparisons."""
        overridden, node = payload
        self._lost_class = True
        if overridden:
            self.refused = True
            if len(self.subclasses) < _MOST_SUBCLASSES:
                self.subclasses.append(_shown(str(overridden)[:200]))
        return message.build(node)

    def _doubt_held(self, value: object, parts: Iterable[Any]) -> None:
        """Notes that methods of this object are the completion's code."""
        if any(isinstance(part, proxies.Function | proxies.Remote | proxies.Classes) for part in parts):
            self.unsure(Doubt.HOLDS.format(type(value).__name__))

    def copied(self) -> None:
        self.only_data = False

    def filled(self, value: object) -> None:
        self.only_data = False
        hidden = [
            part
            for name, part in fields(value).items()
            if isinstance(getattr(type(value), name, None), types.FunctionType)
        ]
        self._doubt_held(value, hidden)

    def _proxy(self, payload: Any, message: Message) -> Any:
        """The proxy of a class, function, object or iterator of the completion."""
        number, what, detail = payload
        if type(number) is not int:
            raise BadMessageError("a number was expected")
        if number in self._theirs:
            self.returned.add(id(self._theirs[number]))
            return self._theirs[number]
        if len(self._theirs) > _MOST_PROXIES:
            raise BadMessageError("too many objects")
        if what == "iterator":
            made: Any = (proxies.Generator if detail else proxies.Iterator)(self)
        else:
            made = {"class": self._class, "function": self._function, "object": self._object}[what](detail, message)
        self._theirs[number] = made
        self._own.add_proxy(made, number)
        return made

    def _class(self, detail: Any, message: Message) -> Any:
        name, text, base_nodes, special, methods, library, attributes = detail
        bases = [base for base in map(message.build, base_nodes) if isinstance(base, type)]
        _require_texts(name, *special, *methods, *([] if text is None else [text]))
        return proxies.class_of(
            self, name, text, bases, special, methods, library=bool(library), attributes=message.build(attributes)
        )

    def _function(self, detail: Any, _message: Message) -> Any:
        name, text = detail
        _require_texts(name, *([] if text is None else [text]))
        return proxies.Function(self, name, text)

    def _object(self, detail: Any, message: Message) -> Any:
        kind = message.build(detail)
        if not isinstance(kind, type):
            raise BadMessageError("an object without a class")
        if not isinstance(kind, proxies.Classes):
            if kind not in self._like:
                self._like[kind] = proxies.class_like(self, kind)
            kind = self._like[kind]
        return object.__new__(kind)


def _require_texts(*texts: Any) -> None:
    if not all(type(text) is str for text in texts):
        raise BadMessageError("a description that is not text")


def _shown(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _kind_of(value: Any, kind: type) -> str | None:
    """How an object of the test is described to the completion; None if it can't be passed."""
    if shared_state.is_mock(value):
        return "mock"
    if issubclass(kind, types.GeneratorType) or named_values.is_iterator(kind):
        return "iterator"
    if issubclass(kind, type):
        return None
    is_test = "unittest.case" in sys.modules and isinstance(value, sys.modules["unittest.case"].TestCase)
    if is_test or not callable(value):
        return None
    return "method" if named_values.is_method(value) else "function"
