"""Clusters that somebody else runs: reading their books, and nothing else."""
