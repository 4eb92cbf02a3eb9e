"""The filtered rollouts as a grid of letters or a table; each cell and row opens the completion."""

from dashboard import controls, rollouts

screen = controls.screen()
view = screen.view

shape = rollouts.head(screen)
controls.require_rows(screen)
if view.task:
    rollouts.one_task(screen)
elif shape == "table":
    rollouts.table(screen)
else:
    rollouts.grid(screen)
