"""What the pages share: the URL's state, the SQL, the charts, the grid, the diff. No grading is done here."""
