"""Bounded, level-triggered loops: they compare what should be with what is, and act on that."""
