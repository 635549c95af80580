"""A policy as a model that can be searched: every sequence of steps in a small world."""
