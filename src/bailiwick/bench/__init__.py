"""Experiments anyone can repeat: placement quality on lists of nodes and pods."""
