"""Notices rows that say they are in another language than Python."""

from __future__ import annotations

from evaluator.formats.registry import Fields
from evaluator.model import RecordError

_FIELDS = ("language", "lang", "programming_language")
_OTHERS = {
    "java", "javascript", "js", "typescript", "ts", "node", "nodejs", "c", "c++", "cpp", "cxx", "c#", "cs", "csharp",
    "go", "golang", "rust", "rs", "ruby", "rb", "php", "perl", "pl", "r", "scala", "kotlin", "kt", "swift", "haskell",
    "hs", "lua", "julia", "jl", "d", "racket", "rkt", "bash", "sh", "shell", "sql", "dart", "elixir", "ocaml",
    "clojure", "erlang", "fortran", "pascal", "objective-c", "matlab", "lean", "coq", "verilog", "html", "css",
}  # fmt: skip


def refuse_others(fields: Fields) -> None:
    """Raises `RecordError` if the row names a language that is not graded here."""
    for name in _FIELDS:
        if name not in fields:
            continue
        value = fields[name]
        if isinstance(value, str) and value.strip().lower() in _OTHERS:
            raise RecordError(f"{name} is {value.strip()!r}, not Python: it can't be graded here")
