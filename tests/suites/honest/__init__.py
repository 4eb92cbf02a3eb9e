"""Short suites with ordinary Python in their tests, by theme: each module has its `SUITES`."""

import importlib
import pkgutil

from tests.suites.honest_suite import Suite

THEMES: dict[str, list[Suite]] = {
    found.name: importlib.import_module(f"{__name__}.{found.name}").SUITES for found in pkgutil.iter_modules(__path__)
}
"""The suites of each module, by its name."""
