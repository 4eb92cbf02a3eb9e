"""The filtered rollouts as a grid of letters, a table, or the hits of a search; all lead to the completion."""

from dashboard import controls
from dashboard.rollouts import rollouts, rollouts_table

screen = controls.screen()

shape = rollouts.head(screen, {"table": rollouts_table.tools, "search": rollouts_table.field})
if shape == "search":
    rollouts_table.require_text(screen)
controls.require_rows(screen)
if shape == "task":
    rollouts.one_task(screen)
elif shape == "table":
    rollouts_table.show(screen)
elif shape == "search":
    rollouts_table.hits(screen)
else:
    rollouts.grid(screen)
