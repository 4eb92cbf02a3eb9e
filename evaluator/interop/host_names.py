"""The names by which clients call a server."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

_NAME: Final = re.compile(r"[\w.-]+|[0-9a-f:.]+:[0-9a-f:.]*|\[[0-9a-f:.]+\]", re.ASCII)


def is_loopback(host: str) -> bool:
    """Whether a name or an address means this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(name: str) -> str:
    """A host name or address in lower case, as `Host` has it. Raises `ValueError` with one line for anything else."""
    lower = name.lower()
    if not _NAME.fullmatch(lower):
        raise ValueError(f"{name!r}: give only a host name or an address, such as gpu-box")
    return lower.strip("[]")
