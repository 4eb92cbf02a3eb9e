"""Tests of a function `add`, and completions for them."""

CALL = {"inputs": ["1\n2", "2\n2"], "outputs": ["3", "4"], "fn_name": "add"}
ASSERTS = ["assert add(1, 2) == 3", "assert add(2, 2) == 4"]
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
HALF = "```python\ndef add(a, b):\n    return 3\n```"
FOREVER = "```python\ndef add(a, b):\n    while b == 2 == a: pass\n    return 3\n```"
"""For the second test."""
