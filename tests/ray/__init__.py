"""A real Ray cluster, and what the executor makes of it."""
