"""What could not be used of the input files: bad lines with their place, the reason and how they begin."""

from dashboard import bad_lines, controls, input_problems

screen = controls.screen(even_empty=True)
bad_lines.show(input_problems.of_run(screen.run), screen.view)
