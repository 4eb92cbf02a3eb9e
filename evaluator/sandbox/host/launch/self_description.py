"""Describes the running Python. Other interpreters run this source, so it needs only the standard library."""

from __future__ import annotations

import json
import os
import platform
import sys
import sysconfig


def describe() -> dict[str, object]:
    """The fields of `interpreter_probe.Description`; in a virtual environment its packages and its base Python."""
    prefix = os.path.realpath(sys.base_prefix)
    stdlib = os.path.realpath(os.path.dirname(os.__file__))  # noqa: PTH120 - the same path as os has
    extensions = [entry for entry in sys.path if entry.endswith("/lib-dynload")]
    return {
        "version": platform.python_version(),
        "implementation": sys.implementation.name,
        "executable": os.path.realpath(sys._base_executable or sys.executable),  # type: ignore[attr-defined]
        "prefix": prefix,
        "stdlib": stdlib,
        "archive": f"{os.path.dirname(stdlib)}/python{sys.version_info[0]}{sys.version_info[1]}.zip",  # noqa: PTH120
        "extensions": os.path.realpath(extensions[0]) if extensions else f"{stdlib}/lib-dynload",
        "package_folders": _package_folders(),
        "libraries": _libraries(prefix),
        "triplet": sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu",
    }


def _package_folders() -> list[str]:
    """In the order of the import path. Without the folders that .pth files add, which are working folders."""
    folders = [entry for entry in sys.path if entry.endswith(("/site-packages", "/dist-packages"))]
    return [folder for folder in dict.fromkeys(map(os.path.realpath, folders)) if os.path.isdir(folder)]  # noqa: PTH112


def _libraries(prefix: str) -> list[str]:
    """libpython, unless it is among the system's libraries; for conda its folder of libraries."""
    beside = f"{prefix}/lib"
    if os.path.isdir(f"{prefix}/conda-meta"):  # noqa: PTH112
        return [beside]
    name = sysconfig.get_config_var("INSTSONAME") if sysconfig.get_config_var("Py_ENABLE_SHARED") else None
    if not name:
        return []
    candidates = [f"{folder}/{name}" for folder in (beside, sysconfig.get_config_var("LIBDIR"))]
    existing = [path for path in candidates if os.path.exists(path)]  # noqa: PTH110
    return [path for path in existing[:1] if not path.startswith(("/usr/lib/", "/usr/lib64/"))]


if __name__ == "__main__":
    print("\n" + json.dumps(describe()))
