"""Imported before all else: on another system what follows could not be."""

import sys
from pathlib import Path

if sys.platform != "linux":
    _told = "runs on Linux alone: on macOS and Windows use a container or WSL 2"
    if sys.argv[:1] == ["-m"] or Path(*sys.argv[:1]).stem == "rollscope":  # `python -m evaluator`, `rollscope`
        print(f"rollscope: {_told}", file=sys.stderr)
        sys.exit(2)
    raise ImportError(f"Rollscope {_told}")
