"""What can go wrong while values pass between a completion's process and its test's."""

from __future__ import annotations


class BadMessageError(Exception):
    """The text is not what the other side writes."""


class TooLargeError(Exception):
    """The message would be longer than it may be."""


class NotDataError(Exception):
    """A value that this side can't send. The message says what it is, in one line."""

    def __init__(self, message: str, kind: type | None = None) -> None:
        """`kind`: the value's class, where that is a subclass of a library's."""
        super().__init__(message)
        self.kind = kind
