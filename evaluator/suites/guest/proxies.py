"""Proxies, in the test's process, of the completion's functions, classes and objects: they send a request when used.

No answer of the completion decides a comparison with the test's data, unless the grade says so
(`Completion.unsure`). An object of a class that neither prompt nor test mentions equals no data and can't be added; its
code is not called.
"""

from __future__ import annotations

import abc
import contextlib
import types
from collections.abc import Callable
from typing import Any

from evaluator.suites.guest.errors import Doubt, GaveUp

Client = Any
"""A `client.Completion`."""
_READS = frozenset("lgn")
"""Requests for names, and for items of an iterator."""
_SHOWING = frozenset(("__repr__", "__str__", "__hash__"))


def _refused(name: str) -> Callable[..., Any]:
    """A special method that can't be used from another process."""

    def refuse(self: Any, *_: object) -> Any:
        self._client.give_up(GaveUp.USES.format(name))

    return refuse


_ORDERS = ("__lt__", "__le__", "__gt__", "__ge__")
_DECIDING = frozenset((
    *_ORDERS, "__contains__",
    *(
        f"__{way}{name}__"
        for name in "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
        for way in ("", "r", "i")
    ),
))  # fmt: skip
"""Orders, `in` and arithmetic: the code of an answer could return anything for them."""
_QUERIES = frozenset(
    f"__{name}__"
    for name in """len iter next bool int float index complex abs neg pos invert reversed enter getitem setitem delitem
    call round floor ceil trunc bytes format length_hint""".split()
)
_CONSISTENT = frozenset(("__iter__", "__next__", "__call__", "__enter__", "__str__"))
"""Queries that an answer of a class that the task does not mention can't answer inconsistently."""
_REFUSED = ("__await__", "__aiter__", "__anext__", "__aenter__", "__aexit__", "__get__", "__set__", "__copy__",
            "__deepcopy__")  # fmt: skip


def _forwarded(name: str) -> Callable[..., Any]:
    def operate(self: Any, *operands: object, **keywords: object) -> Any:
        kind = type(self)
        client, made = kind._client, id(self) in kind._client.made
        if name not in _DECIDING:
            doubtful = not (kind._mentioned or made or name in _CONSISTENT)
        elif kind._mentioned:
            doubtful = name in _ORDERS or not made or id(self) in client.returned
        else:
            for operand in operands:
                client.not_compared(operand, decides=not kind._library)
            return NotImplemented
        if doubtful:
            client.unsure(Doubt.CALLED.format(kind.__name__, name))
        return client.call(self, name, operands, keywords)

    return operate


def _exit(self: Any, kind: object, error: object, _traceback: object) -> Any:
    """The completion can't suppress a failed assert of the test; other suppressed exceptions are noted."""
    client = type(self)._client
    if isinstance(error, AssertionError) and not hasattr(error, "_rollscope_failure"):
        with contextlib.suppress(Exception):
            client.call(self, "__exit__", (kind, error, None), {})
        return False
    suppressed = client.call(self, "__exit__", (kind, error, None), {})
    if error is None:
        return suppressed
    if bool(suppressed) and id(self) not in client.made:
        client.unsure(Doubt.SUPPRESSED.format(type(self).__name__))
    return bool(suppressed)


_SPECIAL: dict[str, Callable[..., Any]] = {
    **{name: _forwarded(name) for name in _DECIDING | _QUERIES},
    **{name: _refused(name) for name in _REFUSED},
    "__exit__": _exit,
}


class Classes(type):
    """The metaclass of classes' proxies: calling one creates an object on the other side."""

    _client: Client
    _mentioned: bool
    _library: bool
    """Whether it is a library's class, not the completion's own."""
    _special: frozenset[str]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], ours: bool = False) -> Any:
        client = next((vars(base)["_client"] for base in bases if "_client" in vars(base)), None)
        if not ours and client is not None:
            client.give_up(GaveUp.SUBCLASS)
        return super().__new__(cls, name, bases, namespace)

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: bool) -> None:
        super().__init__(name, bases, namespace)

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        made = cls._client.call(cls, None, arguments, keywords)
        cls._client.made.add(id(made))
        return made

    def __getattr__(cls, name: str) -> Any:
        if name in ("_client", "_library", "_mentioned", "_special"):
            raise AttributeError(name)
        return attribute(cls._client, cls, name)

    def __setattr__(cls, name: str, value: object) -> None:
        cls._client.give_up(GaveUp.SETS)

    def __delattr__(cls, name: str) -> None:
        cls._client.give_up(GaveUp.SETS)

    def __bool__(cls) -> bool:
        return True


for _name in ("__iter__", "__len__", "__contains__", "__getitem__"):  # an Enum's, or those of a metaclass
    setattr(Classes, _name, _refused(_name))


class Remote(metaclass=Classes, ours=True):
    """An object of the completion."""

    __slots__ = ()  # its attributes are on the other side, `__dict__` too
    _mentioned = _library = False
    _special: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_rollscope"):
            raise AttributeError(name)
        return attribute(type(self)._client, self, name)

    def __setattr__(self, name: str, value: object) -> None:
        type(self)._client.ask("s", self, name, value)

    def __delattr__(self, name: str) -> None:
        type(self)._client.ask("d", self, name)

    def __repr__(self) -> str:
        kind = type(self)
        if kind._client.quiet:
            return "an object of the completion"
        if not _has(kind, "__repr__"):
            return f"<an object of class {kind.__name__}>"
        return str(kind._client.call(self, "__repr__", (), {}))

    def __str__(self) -> str:
        kind = type(self)
        if kind._client.quiet or not _has(kind, "__str__"):
            return repr(self)
        return str(kind._client.call(self, "__str__", (), {}))

    def __eq__(self, other: object) -> Any:
        return True if self is other else _equal(self, other)

    def __hash__(self) -> int:
        kind = type(self)
        return int(kind._client.call(self, "__hash__", (), {})) if _has(kind, "__hash__") else id(self)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        if type(self)._mentioned:
            type(self)._client.give_up(GaveUp.COPIES)
        raise TypeError(f"an object of class {type(self).__name__} can't be copied")


_OPEN_SPECIAL = frozenset(
    """__dict__ __doc__ __annotations__ __version__ __module__ __members__ __wrapped__ __name__ __qualname__
    __defaults__ __kwdefaults__ __self__ __func__""".split()
)


def attribute(client: Client, target: object, name: str) -> Any:
    """The completion's attribute. Not for special methods of libraries' protocols, which could decide comparisons."""
    if name.startswith("__") and name.endswith("__") and name not in _OPEN_SPECIAL:
        if name == "__dataclass_fields__":
            client.give_up(GaveUp.FIELDS)
        raise AttributeError(name)
    value = client.ask("a", target, name)
    if isinstance(value, Function) and not name.startswith("__") and _is_doubtful(client, target):
        return Method(client, target, name)
    return value


def is_doubtful(what: str, target: Any = None, name: Any = None) -> bool:
    """Whether a request with this kind, object and name is about more than plain data.

    A completion's choice of answer does not make its own failure doubtful; the test's operations on objects do.
    """
    if what in _READS or (what == "c" and name in _SHOWING):
        return False
    if what == "c" and name is None:
        return isinstance(target, Classes | ExceptionClasses)
    kind: Any = type(target)  # only the completion's own: it was free to answer with something else
    own = isinstance(kind, Classes) and not (kind._mentioned or kind._library)
    return what != "c" or not own


def _is_doubtful(client: Client, target: object) -> bool:
    """Whether its methods are not under test: an answer's own code could decide `answer.equals(expected)`."""
    if isinstance(target, Remote):
        return id(target) not in client.made and not any(id(kind) in client.tested for kind in type(target).__mro__)
    return id(target) not in client.tested or (isinstance(target, Function) and id(target) in client.returned)


def _has(kind: Any, special: str) -> bool:
    return any(special in vars(one).get("_special", ()) for one in kind.__mro__)


def _equal(one: Any, other: Any) -> Any:
    """`NotImplemented` if `one` does not decide: an object of the test may still find the two equal."""
    kind = type(one)
    remote = isinstance(other, Remote)
    own = _has(kind, "__eq__")
    if not remote and not (own and kind._mentioned):
        kind._client.not_compared(other, decides=own and not kind._library)
        return False if own else NotImplemented
    if not own:
        return NotImplemented
    kind._client.unsure(Doubt.CALLED.format(kind.__name__, "__eq__"))
    answer = kind._client.call(one, "__eq__", (other,), {})
    return answer if answer is NotImplemented else bool(answer)


class _Method:
    """Descriptor of a method, on an object or on the class."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, target: object, owner: Any) -> Any:
        return Method(owner._client, owner if target is None else target, self._name)


class Method:
    """A method of an object or class of the completion. It can't be passed on, or compared."""

    __slots__ = ("__name__", "_client", "_target")

    def __init__(self, client: Client, target: object, name: str) -> None:
        self._client, self._target, self.__name__ = client, target, name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        client, target = self._client, self._target
        answer = client.call(target, self.__name__, arguments, keywords)
        if answer is not None and (arguments or keywords) and _is_doubtful(client, target):
            owner = target.__name__ if isinstance(target, Classes | Function) else type(target).__name__
            client.unsure(Doubt.CALLED.format(owner, self.__name__))
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client.ask("a", self._target, self.__name__), name)

    __eq__ = _refused("__eq__")
    __hash__ = None  # type: ignore[assignment]


def class_of(
    client: Client,
    name: str,
    text: str | None,
    bases: list[type],
    special: list[str],
    methods: list[str],
    real: type | None = None,
    *,
    library: bool = False,
    attributes: dict[str, Any] | None = None,
) -> Any:
    """The proxy of a class of the completion, exceptions included; `real` is the `__class__` of its objects."""
    raised = tuple(base for base in bases if issubclass(base, BaseException))
    if raised:
        described = {**(attributes or {}), "__module__": "solution", "__doc__": text, "_client": client}
        return ExceptionClasses(name, raised, described | _OF_EXCEPTIONS)
    parents: tuple[type, ...] = tuple(base for base in bases if isinstance(base, Classes)) or (Remote,)
    mentioned = name in client.mentioned or any(getattr(parent, "_mentioned", False) for parent in parents)
    namespace: dict[str, Any] = {method: _Method(method) for method in methods if not method.startswith("__")}
    namespace |= {
        each: _SPECIAL[each] for each in special if each in _SPECIAL and (mentioned or each != "__contains__")
    }
    if real is not None:
        namespace["__class__"] = property(lambda _: real)
    namespace.update(
        _client=client, _special=frozenset(special), _mentioned=mentioned, _library=library, __module__="solution",
        __doc__=text, __qualname__=name, __slots__=(),
    )  # fmt: skip
    if "no hash" in special:
        namespace["__hash__"] = None
    made = Classes(name, parents, namespace, ours=True)
    for base in bases:
        if isinstance(base, abc.ABCMeta):
            base.register(made)  # type: ignore[arg-type]
    return made


class ExceptionClasses(type):
    """The metaclass of exception classes' proxies: calling one creates an exception on the other side."""

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        client = vars(cls).get("_client")
        if client is None:  # the test's own class, derived from one of the completion
            return super().__call__(*arguments, **keywords)
        return client.call(cls, None, arguments, keywords)


def _attribute_of_exception(error: Any, name: str) -> Any:
    if name.startswith("_") or "_rollscope_remote" not in error.__dict__:
        raise AttributeError(f"{type(error).__name__!r} object has no attribute {name!r}")
    return attribute(type(error)._client, error, name)


_OF_EXCEPTIONS = {
    "__getattr__": _attribute_of_exception,
    "__str__": lambda error: error.__dict__.get("_rollscope_text") or BaseException.__str__(error),
    "_rollscope_has_text": True,
}


def class_like(client: Client, real: type) -> Any:
    """The proxy of a class that both sides have, for an object of it that is not data."""
    special = [name for name in _SPECIAL if hasattr(real, name)]
    return class_of(client, real.__name__, None, [Remote], special, [], real, library=True)


class Function:
    """A function of the completion."""

    def __init__(self, client: Client, name: str, text: str | None) -> None:
        self.__dict__.update(_client=client, __name__=name, __qualname__=name, __doc__=text, __module__="solution")

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._client.call(self, None, arguments, keywords)

    def __getattr__(self, name: str) -> Any:
        return attribute(self.__dict__["_client"], self, name)

    def __get__(self, instance: object, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __setattr__(self, name: str, value: object) -> None:
        self._client.give_up(GaveUp.SETS)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return types.FunctionType

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


class NoData:
    """A value of the completion that could not be sent: it equals nothing."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<{self._what}>"


class Iterator:
    """Pulls one item at a time."""

    __slots__ = ("_client", "_finished")

    def __init__(self, client: Client) -> None:
        self._client = client
        self._finished = False

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        has_item, value = (False, None) if self._finished else self._ask("n")
        if not has_item:
            self._finished = True
            raise StopIteration(value)
        return value

    def _ask(self, what: str, *more: Any) -> Any:
        self._finished = True  # also if `ask` raises
        answer = self._client.ask(what, self, *more)
        self._finished = False
        return answer


class Generator(Iterator):
    """A generator of the completion."""

    __slots__ = ()

    def send(self, value: object) -> Any:
        return next(self) if value is None else self._ask("c", "send", (value,))

    def throw(self, error: object, *more: object) -> Any:
        return self._ask("c", "throw", (error, *more))

    def close(self) -> None:
        if not self._finished:
            self._ask("c", "close", ())
            self._finished = True

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return types.GeneratorType


_SHOWN: dict[type, str] = {
    Classes: "type", ExceptionClasses: "type", Function: "function", Method: "method", Iterator: "iterator",
    Generator: "generator", Remote: "object",
}  # fmt: skip
for _proxy, _name in _SHOWN.items():  # for failure reports and Python's own messages
    type.__setattr__(_proxy, "__name__", _name)
    type.__setattr__(_proxy, "__module__", "builtins")
