"""Executes a stdin program in this process, one input after the other, and compares its output."""

from __future__ import annotations

import json
import sys

import _warm

Tests = dict[str, list[str]]


def results_of(code: str, tests: Tests) -> list[bool | int]:
    """True or -2 for each test case, up to the first failure."""
    compiled = _warm.compiled(code)
    results: list[bool | int] = []
    for given, wanted in zip(tests["inputs"], tests["outputs"], strict=True):
        printed = _warm.run(compiled, given)
        right = [line.strip() for line in printed.strip().split("\n")] == wanted.strip().split("\n")
        results.append(True if right else -2)
        if not right:
            break
    return results


if __name__ == "__main__":
    source, cases = json.load(sys.stdin)
    print(json.dumps(results_of(source, cases)))
