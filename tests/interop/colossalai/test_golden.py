"""What the original was seen to do, probe by probe (golden.jsonl), beside what we do."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator.interop.colossalai import run_test, strict_compat

HERE = Path(__file__).parent
PROBES = {probe["id"]: probe for probe in map(json.loads, (HERE / "golden.jsonl").read_text().splitlines())}
TABLE = (HERE.parents[2] / "docs/integrations/colossalai.md").read_text()
DIFFERING = {
    cells[0]: cells[1:]
    for cells in (re.findall(r" ([^|]+?) \|", row) for row in re.findall(r"^\| `.*$", TABLE, re.M))
    if len(cells) == 4
}
ROWS = {name.strip("`"): cells for name, cells in DIFFERING.items() if name.strip("`") in PROBES}
SLOW = {"cb-recursion", "cb-infinite-bare-except", "cb-infinite-module", "in-infinite-second-runall"}
EACH = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PROBES]


def outcome(probe: dict[str, Any]) -> tuple[object, dict[str, str]]:
    """Results and `error_info`, or what was raised; nothing that changes from run to run. Endless programs get a short
    time-out, in whole seconds as the original's, and all others more than a busy machine takes."""
    timeout = 2 if probe["died"] == "SIGALRM" else probe["timeout"] and probe["timeout"] + 60
    in_outs = json.loads(json.dumps(probe["in_outs"]))
    try:
        results, info = run_test(in_outs, test=probe["test"], timeout=timeout, run_all_tests=probe["run_all_tests"])
    except Exception as error:
        return f"raises {type(error).__name__}", {}
    assert in_outs == probe["in_outs"]
    assert all(type(code) in (bool, int) for code in results)
    return str(results), settled(info)


def settled(info: dict[str, str] | None) -> dict[str, str]:
    """A traceback by its last line, addresses zeroed; other Pythons word their errors otherwise."""
    told = dict(info or {})
    if "traceback" in told:
        told["traceback"] = (told["traceback"].strip().splitlines() or [""])[-1]
    if sys.version_info[:2] != (3, 11):
        told = {key: value.partition("(")[0] if key == "error" else value for key, value in told.items()}
        told.pop("traceback", None)
    return {key: re.sub(r"0x[0-9a-f]+", "0x0", value) for key, value in told.items()}


def original(probe: dict[str, Any]) -> tuple[object, dict[str, str]] | None:
    """None where there was no result."""
    if probe["raised"] or probe["died"]:
        return None
    return str(probe["results"]).replace("true", "True"), settled(probe["error_info"])


@pytest.mark.parametrize("name", EACH)
def test_a_probe_has_the_original_outcome_or_that_of_the_table(name: str) -> None:
    probe = PROBES[name]
    ours, wanted = outcome(probe), original(probe)
    with strict_compat():
        strict = outcome(probe)
    if name not in ROWS:
        assert ours == strict == wanted
        return
    _, told, told_strict = ROWS[name]
    assert (ours[0], strict[0]) == (told, told_strict)
    assert ours != wanted
