"""Manifests of runs, with the options of their grading beside everything else."""

from typing import Any

from evaluator.options import Options, Settings
from evaluator.runs.schema import Manifest


def manifest_of(**fields: Any) -> Manifest:
    """`sandbox`: how strict it was; `interpreter`: the Python that completions ran on."""
    names = set(Options.__struct_fields__) - {"sandbox", "cache"}
    given = {name: fields.pop(name) for name in names & fields.keys()}
    sandbox = Settings(strictness=fields.pop("sandbox", "strict"), python=fields.pop("interpreter", None))
    return Manifest(options=Options(**given, sandbox=sandbox), **fields)
