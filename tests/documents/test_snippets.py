"""The Python snippets of README, reference and the pages for other systems run, and print what is beside them."""

import ast
import asyncio
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INTEGRATIONS = ("agentfly", "code-eval", "opencompass", "colossalai", "slime", "trl", "verl")
PAGES = (
    ROOT / "README.md",
    ROOT / "docs/reference/python.md",
    *(ROOT / f"docs/integrations/{name}.md" for name in INTEGRATIONS),
)
SNIPPETS = [
    pytest.param(text, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, text in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S))
]


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_prints_what_is_beside_it(snippet: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = re.findall(r"^ *print\(.*\)  # (.*)$", snippet, re.M)
    code = compile(snippet, "snippet.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    found = eval(code, {})
    if inspect.iscoroutine(found):  # it awaits something by itself
        asyncio.run(found)
    assert capsys.readouterr().out.splitlines() == told
    assert told
