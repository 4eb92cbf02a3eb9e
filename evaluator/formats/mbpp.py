"""MBPP, whole and sanitized: `task_id`, `text` or `prompt`, `code`, `test_list`, set-up code or imports; and MBPP+ as
it is on the Hugging Face Hub, which adds `test`.

The asserts of `test_list` (and of `challenge_test_list`) become the body of a `check(candidate)`; they still call the
function by its name. The entry point is the function of `code` that the asserts call. If there is a `test`, it
replaces them: it has their inputs too.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from evaluator import syntax
from evaluator.formats.reading import fields as field
from evaluator.formats.reading.fields import Fields
from evaluator.formats.reading.registry import Format
from evaluator.formats.reading.spec import Tasks, claims
from evaluator.model import Mode, RecordError, Task
from evaluator.tasks.given_tests import names_called

_TAKEN = {
    "task_id", "text", "prompt", "code", "canonical_solution",
    "test_list", "challenge_test_list", "test_setup_code", "test_imports", "test",
}  # fmt: skip


def read_task(fields: Fields) -> Task:
    """One task of mode assert. DeepSeek-Coder's copy has the list of asserts as `test`, as has MBPP-X."""
    if isinstance(fields.get("test"), list) and "test_list" not in fields:
        fields = {**field.without(fields, {"test"}), "test_list": fields["test"]}
    code = field.text(fields, "code") or field.text(fields, "canonical_solution")
    statements = list(_statements(fields))
    setup = _setup(fields)
    entry_point = _entry_point(code, setup, [node for _, node in statements])
    sources = [source for source, _ in statements]
    body = "".join(f"    {source}\n" for source in sources)
    asserts = f"{setup}\ndef check(candidate):\n{body}" if statements else None
    if asserts and entry_point == "check":  # the function that is tested
        asserts = "\n".join((setup, *sources, ""))
    return Task(
        task_id=field.identifier(fields, "task_id"),
        mode=Mode.ASSERT,
        prompt=field.text(fields, "text") or field.text(fields, "prompt"),
        entry_point=entry_point,
        test=field.text(fields, "test") or asserts,
        reference=code or None,
        source="MBPP",
        metadata=field.without(fields, _TAKEN),
    )


def _setup(fields: Fields) -> str:
    parts = [*field.strings(fields, "test_imports"), field.text(fields, "test_setup_code")]
    return "\n".join(part for part in parts if part.strip())


def _statements(fields: Fields) -> Iterable[tuple[str, ast.stmt]]:
    """Each statement of the test lists with its source, whose inner lines stay unchanged."""
    for name in ("test_list", "challenge_test_list"):
        for number, item in enumerate(field.strings(fields, name)):
            try:
                nodes = syntax.parse(item.strip()).body
            except syntax.NOT_PYTHON as error:
                raise RecordError(f"{name}[{number}] is not valid Python: {error}") from None
            for node in nodes:
                yield ast.get_source_segment(item.strip(), node) or "", node


def _entry_point(code: str, setup: str, statements: Iterable[ast.stmt]) -> str:
    called = list(names_called(statements))
    defined = _defined(code)
    known = _defined(setup) | set(dir(builtins))
    chosen = [name for name in called if name in defined] or [name for name in called if name not in known]
    if not chosen:
        raise RecordError("no assert calls a function of the task, so the entry point is unknown")
    return chosen[0]


def _defined(code: str) -> set[str]:
    tree = syntax.tree_of(code)
    names: set[str] = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


FORMAT = Format(
    name="mbpp",
    title="MBPP, MBPP+: text or prompt, code, test_list, test",
    tasks=Tasks(claim=claims("3: task_id, text|prompt, test_list:list|test:list, !test_start"), code=read_task),
)
