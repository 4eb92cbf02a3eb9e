"""Files that no honest program writes, as data. `test_command.py` gives them to the command, `test_dashboard.py` shows
what was made of them.

To add one: a line here. `VALUES` of `requests.py` go into every field of a good row too.
"""

import base64
import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any, Final

import zstandard

from tests.hostile.requests import DEEP

ADD: Final[dict[str, Any]] = {
    "task_id": "add", "mode": "call", "prompt": "Add.", "entry_point": "add", "preamble": "import math",
    "in_outs": {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"},
    "checker": "value", "grader": "tests", "exit_code": "ignore", "weights": [1, 2],
    "limits": {"wall_s": 5, "threads": 8},
    "reference": "def add(a, b): return a + b", "source": "made", "licence": "CC0", "topic": "sums",
}  # fmt: skip
RIGHT: Final[dict[str, Any]] = {
    "task_id": "add", "kind": "full", "model": "policy", "step": 1, "group": "g",
    "completion": "def add(a, b): return a + b", "expected_pass": True, "given_reward": 1.0, "temperature": 0.5,
}  # fmt: skip

DATASETS: Final[dict[str, dict[str, Any]]] = {
    "native call": ADD,
    "native stdin": {
        "task_id": "a", "mode": "stdin", "prompt": "Echo.", "in_outs": {"inputs": ["1\n"], "outputs": ["1\n"]},
        "checker": "floats",
    },
    "native assert": {
        "task_id": "a", "mode": "assert", "prompt": "p", "entry_point": "f",
        "test": "def check(f):\n    assert f(1) == 2",
    },
    "native unittest": {
        "task_id": "a", "mode": "unittest", "prompt": "p",
        "test": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 2)",
    },
    "native answer": {"task_id": "a", "prompt": "p", "answer": {"required": ["a"]}, "grader": "structured"},
    "query_answer": {"query": "6 * 7?", "answer": "42", "metadata": {"id": "a", "grader": "exact_match:marker=A"}},
    "nemo_gym": {
        "responses_create_params": {"input": [{"role": "user", "content": "p"}]}, "task_id": "a", "_ng_task_index": 1,
        "verifier_metadata": {"unit_tests": {"inputs": ["1"], "outputs": ["2"], "fn_name": "f"}, "difficulty": "easy"},
    },
    "humaneval": {
        "task_id": "HumanEval/0", "prompt": "def f(x):\n", "canonical_solution": "    return x\n", "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
    },
    "evalplus": {
        "task_id": "HumanEval/0", "prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": "    return x\n",
        "base_input": [[1]], "plus_input": [[2]], "atol": 0, "contract": "", "test": "",
    },
    "mbpp": {
        "task_id": 2, "text": "p", "code": "def f(x): return x", "test_list": ["assert f(1) == 1"],
        "test_setup_code": "", "challenge_test_list": [],
    },
    "bigcodebench": {
        "task_id": "BigCodeBench/0", "complete_prompt": "def task_func(x):\n", "instruct_prompt": "p",
        "canonical_solution": "    return x\n", "code_prompt": "def task_func(x):\n", "entry_point": "task_func",
        "test": "import unittest\nclass TestCases(unittest.TestCase):\n    def test(self): pass", "libs": "['math']",
    },
    "classeval": {
        "task_id": "ClassEval_0", "skeleton": "class A:\n    pass\n", "class_name": "A",
        "test": "import unittest\nclass ATest(unittest.TestCase):\n    def test(self): pass",
        "import_statement": ["import math"], "solution_code": "class A: pass",
        "class_description": "", "methods_info": [], "test_classes": ["ATest"], "class_constructor": "",
    },
    "apps": {
        "problem_id": 1, "question": "p", "solutions": '["print(1)"]', "difficulty": "introductory", "starter_code": "",
        "input_output": '{"inputs": ["1\\n"], "outputs": ["1\\n"]}', "url": "u",
    },
    "livecodebench": {
        "question_title": "t", "question_content": "p", "platform": "atcoder", "question_id": "a", "contest_id": "c",
        "starter_code": "", "difficulty": "easy", "metadata": "{}", "contest_date": "2024-01-01",
        "public_test_cases": '[{"input": "1", "output": "1", "testtype": "stdin"}]', "private_test_cases": "[]",
    },
    "colossalai": {
        "messages": {"role": "user", "content": "p"},
        "test_cases": {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"},
    },
}  # fmt: skip
"""By what it is, a row of a dataset."""

ROLLOUTS: Final[dict[str, dict[str, Any]]] = {
    "native": RIGHT,
    "messages": {"task_id": "add", "completion": [{"role": "assistant", "content": "x"}]},
    "nemo_gym": {
        "responses_create_params": {"input": [{"role": "user", "content": "p"}]}, "reward": 1.0, "mask_sample": False,
        "response": {
            "model": "m", "usage": {"input_tokens": 1},
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}]},
                {"type": "function_call", "name": "n", "arguments": "{}", "call_id": "c"},
                {"type": "function_call_output", "call_id": "c", "output": "o"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "```\n1\n```"}]},
            ],
        },
        "_ng_task_index": 0, "_ng_rollout_index": 0, "agent_ref": {"name": "a"}, "verdict": "passed",
        "result": [True, -2], "metadata": {"inputs": "1"}, "test_verdicts": "P", "reward_components": {"a": 1.0},
    },
    "query_answer": {"query": "6 * 7?", "answer": "42", "metadata": {"id": "a"}, "response": "42"},
}  # fmt: skip
"""By what it is, a row of a file of rollouts."""

LINES: Final[dict[str, bytes]] = {
    "no JSON": b"{'task_id': 'a'}",
    "half a line": b'{"task_id": "add", "comple',
    "no UTF-8": b'{"task_id": "\xff\xfe\x80", "completion": "x"}',
    "NUL": b"\0" * 100,
    "NUL in a line": b'{"task_id": "a\0dd"}',
    "a byte order mark": b'\xef\xbb\xbf{"task_id": "add"}',
    "only a carriage return": b"\r",
    "white space": b" \t ",
    "null": b"null",
    "a number": b"1e999",
    "a text": b'"add"',
    "a list": b"[1, [2]]",
    "no object in a list": b"[{}]",
    "an object without names": b"{}",
    "lists, deep": b'{"task_id": "add", "completion": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "objects, deep": b'{"a":' * DEEP,
    "an integer of 100,000 digits": b'{"task_id": "add", "completion": "x", "step": ' + b"9" * DEEP + b"}",
    "a fraction out of range": b'{"task_id": "add", "completion": "x", "step": 1e999, "given_reward": -1e999}',
    "NaN": b'{"task_id": "add", "completion": "x", "given_reward": NaN}',
    "the same name twice": b'{"task_id": "add", "task_id": 1, "completion": 2, "completion": "x"}',
    "a line separator": '{"task_id": "add", "completion": "x\u2028y\u0085z"}'.encode(),
    "half a surrogate pair": b'{"task_id": "add\\ud800", "completion": "\\udc00", "\\ud800": "\\ud800"}',
    "100,000 names": b"{" + b",".join(b'"%d": 0' % number for number in range(DEEP)) + b"}",
    "33 MiB": b'{"task_id": "add", "completion": "' + b"x" * (33 << 20) + b'"}',
}
"""By what it is, a line among good ones."""

_ROWS = b"".join(json.dumps(row).encode() + b"\n" for row in (ADD, RIGHT))


def _unpacks_to_much() -> bytes:
    packed = base64.b64encode(zlib.compress(b'{"inputs": ["' + b"1" * (300 << 20) + b'"]}', 1)).decode()
    row = DATASETS["nemo_gym"] | {"verifier_metadata": {"unit_tests": {"packed": packed}}}
    return json.dumps(row).encode()


FILES: Final[dict[str, bytes | Callable[[], bytes]]] = {
    "nothing": b"",
    "a byte order mark": b"\xef\xbb\xbf",
    "empty lines": b"\n\n\r\n",
    "NUL": b"\0" * 10_000,
    "noise": bytes(range(256)) * 100,
    "UTF-16": json.dumps(RIGHT).encode("utf-16"),
    "half a gzip": gzip.compress(_ROWS * 100)[:-20],
    "the begin of a gzip": gzip.compress(_ROWS)[:5],
    "a gzip with noise in it": gzip.compress(_ROWS)[:20] + b"\xff" * 50,
    "a gzip in a gzip": gzip.compress(gzip.compress(_ROWS)),
    "half a Zstandard": zstandard.compress(_ROWS * 100)[:-20],
    "the begin of a Zstandard": zstandard.compress(_ROWS)[:5],
    "one line without an end": b"x" * (40 << 20),
    "a list without an end": b"[" + json.dumps(ADD).encode() + b",",
    "a list of lists": b"[" * DEEP,
    "an object in many lines that is cut off": json.dumps(ADD, indent=1).encode()[:-2],
    "a table of other things": b"name,price\nadd,x\n",
    "a page": b"<html><script>alert(1)</script></html>",
    "a parquet that is none": b"PAR1" + b"\0" * 100 + b"PAR1",
    "tests that unpack to 300 MiB": _unpacks_to_much,
}
"""By what it is, a whole file, or what makes it: that takes seconds."""

TEXTS: Final[dict[str, str]] = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a>",
    "Markdown": "# x\n**b** [x](javascript:alert(1)) ![x](http://evil.example/x.png) `c` $\\frac{1}{0}$ :red[x] |a|b|",
    "a path": "../../../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "a path with NUL": "a\0b/../c",
    "a formula": '=HYPERLINK("http://evil.example";"x")',
    "SQL": "'; DROP TABLE grades; --\"",
    "right to left": "\u202etxt.exe\u202c\u2066\u2067",
    "zero width": "a\u200bd\u200dd\ufeff\u2060",
    "control characters": "\x1b[31mred\x1b[0m\x07\x08\r\n\t\x7f\x9b",
    "a template": "{{7*7}}${7*7}%(x)s{0}%s",
    "combining": "a" + "\u0301" * 500,
    "long": "x" * 5000,
    "long without a break, in Chinese": "\u4e2d" * 3000,
    "half a surrogate pair": "a\ud800b",
    "nothing": "",
    "white space": " \t\u00a0\u3000",
    "a URL": "?run=x&task=y#z",
}
"""By what it is, a name of a task, sample, model, group, flag, or what a completion says."""


def named() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Tasks and rollouts with each text in every place for text: those that pass, those that are texts themselves, and
    those that print and raise them."""
    tasks = [ADD | {"task_id": name, "prompt": name, "source": name, name: name} for name in TEXTS.values()]
    rollouts = []
    for name in TEXTS.values():
        names = {"task_id": name, "model": name, "group": name, name: name}
        comment = " ".join(name.replace("\0", "").split())
        raising = f"def add(a, b):\n    # {comment}\n    print({name!r})\n    raise ValueError({name!r})"
        rollouts += [
            RIGHT | names,
            RIGHT | names | {"completion": name, "kind": "chat", "step": 2},
            RIGHT | names | {"completion": raising, "step": 3},
        ]
    return tasks, rollouts
