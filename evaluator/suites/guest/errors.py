"""Errors while values pass between a completion's process and its test's."""

from __future__ import annotations

from collections.abc import Callable


class BadMessageError(Exception):
    """The other side would not write such a text."""


class TooLargeError(Exception):
    """The message would be longer than allowed."""


class UnfetchedError(Exception):
    """This side must request a part of the message before that is written."""

    def __init__(self, fetch: Callable[[], object]) -> None:
        super().__init__()
        self.fetch = fetch


class NotDataError(Exception):
    """A value that this side can't send. The message describes it in one line."""

    def __init__(self, message: str, kind: type | None = None) -> None:
        """`kind`: the value's class, if that is a subclass of a library's."""
        super().__init__(message)
        self.kind = kind
