"""Real server processes, ended without warning at random points."""
