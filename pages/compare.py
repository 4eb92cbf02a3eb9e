"""Placeholder."""

from dashboard import controls, facts

screen = controls.screen()
facts.section("compare")
