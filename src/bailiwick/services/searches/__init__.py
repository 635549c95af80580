"""Long questions that are computed in a process of their own, one at a time."""
