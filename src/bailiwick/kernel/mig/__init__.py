"""Repartitioning: MIG profiles of a node's GPUs are changed as one operation."""
