"""Settings of the checkers' property tests."""

from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
