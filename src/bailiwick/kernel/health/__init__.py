"""Health: what agents find on their machines, what follows from it, and tests of nodes."""
