"""Who runs the grading: worker processes of this machine, the machines of a Ray cluster, or a server of grades."""
