"""Reads the fields of a row that hold code: its test, its prompt, the name that the tests call. Runs nothing."""

from __future__ import annotations

import re

from evaluator import syntax
from evaluator.formats import fields as field
from evaluator.formats.fields import Fields
from evaluator.model import Mode, RecordError

_UNITTEST_CLASS = re.compile(r"^class[ \t]+\w+[ \t]*\([^()\n]*TestCase\b", re.MULTILINE)


def mode_of_test(test: str) -> Mode:
    """unittest if the test code has a class of test methods, else assert.

    Detected by a pattern: EvalPlus's tests take megabytes, and parsing them would take most of the loading time.
    """
    return Mode.UNITTEST if _UNITTEST_CLASS.search(test) else Mode.ASSERT


def required_test(fields: Fields) -> str:
    """The row's test code. Raises `RecordError` if it is missing or does not parse."""
    test = field.text(fields, "test")
    if not test.strip():
        raise RecordError("test is missing: add the code that decides whether a completion passes")
    try:
        syntax.parse(test)
    except syntax.NOT_PYTHON as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else error
        raise RecordError(f"test is not valid Python: {where}") from None
    return test


def required_name(fields: Fields, name: str) -> str:
    """A field that names a function or a class. Raises `RecordError` if it is missing or not a name."""
    value = field.text(fields, name).strip()  # of MBPP's names some end in a space
    if not value:
        raise RecordError(f"{name} is missing: name the function or class that the tests call")
    if not value.isidentifier():
        raise RecordError(f"{name} must be a Python name, not {value!r}")
    return value


def before_function(source: str, name: str) -> str:
    """The part of a source before the function of this name; "" if it is blank or not Python."""
    found = re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b", source, re.MULTILINE)
    before = source[: found.start()] if found else ""
    return before if before.strip() and syntax.tree_of(before) else ""
