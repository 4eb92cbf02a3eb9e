"""What could not be used of the input files: bad lines with their place, the reason and how they begin."""

from dashboard import controls, input_problems
from dashboard.trouble import trouble

screen = controls.screen(even_empty=True)
trouble.show(input_problems.of_run(screen.run), screen.view)
