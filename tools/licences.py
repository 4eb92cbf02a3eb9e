"""Prints the licence of each package that `rollscope[all]` brings, as the package itself states it.

Exit status 1 if one states none. `make licences` runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def brought(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> Iterator[Distribution]:
    """The package and what it asks for here, each perhaps several times."""
    found = distribution(name)
    yield found
    for extra in extras or {""}:
        if (canonicalize_name(name), extra) in seen:
            continue
        seen.add((canonicalize_name(name), extra))
        for wanted in map(Requirement, found.requires or ()):
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                yield from brought(wanted.name, frozenset(wanted.extras), seen)


def licence(package: Distribution) -> str:
    """An SPDX expression, else what older metadata have; empty if it states none."""

    def stated(field: str) -> list[str]:
        return package.metadata.get_all(field) or []

    classified = [each.rpartition(" :: ")[2] for each in stated("Classifier") if each.startswith("License ::")]
    old = [text.strip().partition("\n")[0] for text in stated("License")]
    return ", ".join(stated("License-Expression") or classified or old)


def main() -> int:
    packages = {canonicalize_name(each.name): each for each in brought("rollscope", frozenset({"all"}), set())}
    rows = [(name, each.version, licence(each)) for name, each in sorted(packages.items())]
    for name, version, stated in rows:
        print(f"{name:24} {version:12} {stated or 'states none'}")
    return int(not all(stated for *_, stated in rows))


if __name__ == "__main__":
    sys.exit(main())
