"""The Python snippets of the pages for other systems run, and print what the pages say."""

import ast
import asyncio
import inspect
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs/integrations"
SNIPPETS = [
    pytest.param(text, id=f"{name}-{number}")
    for name in ("agentfly", "code-eval", "opencompass", "colossalai", "slime", "trl", "verl")
    for number, text in enumerate(re.findall(r"^```python\n(.*?)^```", (PAGES / f"{name}.md").read_text(), re.M | re.S))
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
