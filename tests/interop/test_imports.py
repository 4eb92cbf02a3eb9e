"""What a trainer pays for importing us: no other package, no thread, no process, and little memory."""

import json
import subprocess
import sys
from pathlib import Path

from evaluator import interop
from tests.interop.serving import ROOT

NEEDED = {"msgspec", "typing_extensions", "zstandard"}
"""What `pip install rollscope` brings."""
SERVERS = {"endpoints", "http_server", "monitoring", "nemo_gym", "sandbox_fusion"}
"""Servers and their parts, which need the extra `serve`."""
MODULES = sorted({path.stem for path in Path(interop.__path__[0]).iterdir() if not path.name.startswith("_")} - SERVERS)

WATCHED = """
import json, os, resource, sys, threading
from pathlib import Path

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

modules, before = set(sys.modules), peak_mb()
for module in sys.argv[1:]:
    __import__(module)
print(json.dumps({
    "packages": sorted({name.partition(".")[0] for name in set(sys.modules) - modules} - sys.stdlib_module_names),
    "threads": threading.active_count(),
    "children": Path("/proc/self/task", str(os.getpid()), "children").read_text().split(),
    "mb": peak_mb() - before,
}))
"""


def test_importing_all_clients_loads_and_starts_nothing_else() -> None:
    words = [sys.executable, "-c", WATCHED, *(f"evaluator.interop.{module}" for module in MODULES)]
    found = json.loads(subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert set(found["packages"]) - NEEDED == {"evaluator"}
    assert (found["threads"], found["children"]) == (1, [])
    assert found["mb"] < 24, "about 19 are usual, most of which Python's own modules take"
