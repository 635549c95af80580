"""Whole clusters in one process, on one seed: simulated clocks, disk, network and liars.

``world.py`` decides what happens next; ``invariants.py`` judges it; ``docs/reliability.md`` tells
what is promised, what can go wrong here, and what cannot.
"""
