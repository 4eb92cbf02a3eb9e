"""How many workers there are where nobody says: cores, the control group's quota, and memory, on made-up machines."""

from pathlib import Path

import pytest

from evaluator.workers.worker_count import worker_count

GIB = 2**30
V2 = {"proc/self/cgroup": "0::/job\n"}
CPU = "sys/fs/cgroup/cpu"
MEMORY = "sys/fs/cgroup/memory/job/memory"
V1 = {"proc/self/cgroup": "5:memory:/job\n4:cpu,cpuacct:/job\n"}


@pytest.fixture(autouse=True)
def _sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.workers.worker_count.cores", lambda: 16)


def machine(root: Path, files: dict[str, str], free_gib: float = 64) -> Path:
    files = {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {int(free_gib * 2**20)} kB\n"} | files
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({}, 16),
        (V2, 16),
        (V2 | {"sys/fs/cgroup/job/cpu.max": "max 100000"}, 16),
        (V2 | {"sys/fs/cgroup/job/cpu.max": "250000 100000"}, 3),
        (V2 | {"sys/fs/cgroup/job/cpu.max": "5000 100000"}, 1),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2),
        (V2 | {"sys/fs/cgroup/job/cpu.max": "max 100000", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2),
        (V2 | {"sys/fs/cgroup/job/cpu.max": "what is this"}, 16),
        (V1 | {f"{CPU},cpuacct/job/cpu.cfs_quota_us": "300000", f"{CPU},cpuacct/job/cpu.cfs_period_us": "100000"}, 3),
        (V1 | {f"{CPU}/job/cpu.cfs_quota_us": "-1", f"{CPU}/job/cpu.cfs_period_us": "100000"}, 16),
        (
            V2
            | {
                "sys/fs/cgroup/job/memory.max": str(2 * GIB),
                "sys/fs/cgroup/job/memory.current": str(GIB + GIB // 2),
                "sys/fs/cgroup/job/memory.stat": f"anon 1\ninactive_file {GIB // 2}\n",
            },
            4,
        ),
        (V1 | {f"{MEMORY}.limit_in_bytes": str(GIB), f"{MEMORY}.usage_in_bytes": str(GIB)}, 1),
        (V1 | {f"{MEMORY}.limit_in_bytes": "9223372036854771712", f"{MEMORY}.usage_in_bytes": str(GIB)}, 16),
    ],
)
def test_as_many_as_the_control_group_has_cpu_time_and_memory_for(
    tmp_path: Path, files: dict[str, str], count: int
) -> None:
    assert worker_count(machine(tmp_path, files)) == count


@pytest.mark.parametrize(("free_gib", "count"), [(64, 16), (2, 8), (0.3, 1), (0.01, 1)])
def test_as_many_as_there_is_free_memory_for(tmp_path: Path, free_gib: float, count: int) -> None:
    assert worker_count(machine(tmp_path, V2, free_gib)) == count


def test_a_machine_that_tells_nothing_has_one_per_core(tmp_path: Path) -> None:
    assert worker_count(tmp_path) == 16
