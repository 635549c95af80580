"""What would have been: a journal read back to its causes, decided again, and compared."""
