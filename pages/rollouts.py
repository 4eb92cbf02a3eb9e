"""All rollouts in the filter: a grid of letters or a table, each cell and row a link to the completion."""

from dashboard import controls, rollout_views

screen = controls.screen()
view = screen.view

shape = rollout_views.head(screen)
controls.require_rows(screen)
if view.task:
    rollout_views.one_task(screen)
elif shape == "table":
    rollout_views.table(screen)
else:
    rollout_views.grid(screen)
