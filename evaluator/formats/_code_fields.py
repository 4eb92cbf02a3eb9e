"""Reads the fields of a row that hold code: its test, its prompt, the name that is called. Nothing is run here."""

from __future__ import annotations

import re

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats.fields import Fields
from evaluator.model import Mode, RecordError

_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
_UNITTEST_CLASS = re.compile(r"^class[ \t]+\w+[ \t]*\([^()\n]*TestCase\b", re.MULTILINE)


def mode_of_test(test: str) -> Mode:
    """unittest where the test code has a class of test methods, else assert.

    Told by a pattern: EvalPlus writes tests of megabytes, and parsing them would take most of the loading.
    """
    return Mode.UNITTEST if _UNITTEST_CLASS.search(test) else Mode.ASSERT


def required_test(fields: Fields) -> str:
    """The row's test code. Raises `RecordError` where there is none or where it does not parse."""
    test = field.text(fields, "test")
    if not test.strip():
        raise RecordError("test is missing: give the code that decides whether a completion passes")
    try:
        syntax.parse(test)
    except _NOT_PYTHON as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else error
        raise RecordError(f"test is not Python: {where}") from None
    return test


def required_name(fields: Fields, name: str) -> str:
    """A field that names a function or a class. Raises `RecordError` where it is missing or no name."""
    value = field.text(fields, name)
    if not value:
        raise RecordError(f"{name} is missing: name what the tests call")
    if not value.isidentifier():
        raise RecordError(f"{name} is {value!r}, which can't be a name in Python")
    return value


def before_function(source: str, name: str) -> str:
    """What stands in a source before the function of this name; "" where that is nothing, or no Python."""
    found = re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b", source, re.MULTILINE)
    before = source[: found.start()] if found else ""
    if not before.strip():
        return ""
    try:
        syntax.parse(before)
    except _NOT_PYTHON:
        return ""
    return before
