"""What all formats share: finding, opening and detecting files, reading their rows, and how a format is declared."""
