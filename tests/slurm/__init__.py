"""Slurm: its answers as values, and a real cluster."""
