"""What apps tell of their use, in units of their own: by whom, once, and for which time."""
