"""Test code in the rows of benchmarks: whether it can be used, its mode, and the names in it. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

from evaluator import syntax
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.model import JsonValue, Mode, RecordError

_UNITTEST_CLASS = re.compile(r"^class[ \t]+\w+[ \t]*\([^()\n]*TestCase\b", re.MULTILINE)


def mode_of_test(test: str) -> Mode:
    """unittest if the test code has a class of test methods, else assert.

    Detected by a pattern: EvalPlus's tests take megabytes, and parsing them would take most of the loading time.
    """
    return Mode.UNITTEST if _UNITTEST_CLASS.search(test) else Mode.ASSERT


def test_code(name: str) -> Callable[[Fields], str]:
    """Takes the test code of a field. It raises `RecordError` if that is missing or does not parse."""

    def take(fields: Fields) -> str:
        test = field.text({"test": fields.get(name)}, "test")
        if not test.strip():
            raise RecordError("test is missing: add the code that decides whether a completion passes")
        try:
            syntax.parse(test)
        except syntax.NOT_PYTHON as error:
            raise RecordError(f"test is not valid Python: {syntax_error(error)}") from None
        return test

    return take


def syntax_error(error: Exception) -> str:
    """Where a source is not Python, and why."""
    return f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)


def required_name(value: JsonValue, name: str) -> str:
    """A field that names a function or a class. Raises `RecordError` if it is missing or not a name."""
    found = field.text({name: value}, name).strip()  # of MBPP's names some end in a space
    if not found:
        raise RecordError(f"{name} is missing: name the function or class that the tests call")
    if not found.isidentifier():
        raise RecordError(f"{name} must be a Python name, not {found!r}")
    return found


def before_function(source: str, name: str) -> str:
    """The part of a source before the function of this name; "" if it is blank or not Python."""
    found = re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b", source, re.MULTILINE)
    before = source[: found.start()] if found else ""
    return before if before.strip() and syntax.tree_of(before) else ""


def before_prompted(fields: Fields) -> str:
    """A preamble: the part of the row's prompt before its function (imports, helpers), for whole programs."""
    return before_function(field.text(fields, "prompt"), field.text(fields, "entry_point").strip())


def after_prompt(fields: Fields) -> str | None:
    """A reference: the row's prompt, its canonical solution and its suffix, as a whole program.

    Some prompts lack the line feed at their end.
    """
    canonical, prompt = field.text(fields, "canonical_solution"), field.text(fields, "prompt")
    if not canonical:
        return None
    rest = canonical + field.text(fields, "suffix")
    begins_a_line = prompt and not prompt.endswith("\n") and canonical[:1].isspace()
    return f"{prompt}\n{rest}" if begins_a_line and syntax.tree_of(prompt + rest) is None else prompt + rest
