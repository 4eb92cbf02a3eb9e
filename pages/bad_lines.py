"""What could not be used of the input files: bad lines with their place, the reason and how they begin."""

from dashboard import controls, input_problems
from dashboard.bad_lines import bad_lines

screen = controls.screen(even_empty=True)
bad_lines.show(input_problems.of_run(screen.run), screen.view)
