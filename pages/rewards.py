"""How rewards are distributed, how hard the tasks are, and what more samples would bring."""

from dashboard import controls, rewards

screen = controls.screen()
rewards.head(screen)
controls.require_rows(screen)
rewards.figures(screen)
