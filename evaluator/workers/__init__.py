"""Who runs the grading: worker processes of this machine, the machines of a Ray cluster, or a server of grades."""

import sys

if sys.platform != "linux":
    raise ImportError("Rollscope runs on Linux alone: on macOS and Windows use a container or WSL 2")
