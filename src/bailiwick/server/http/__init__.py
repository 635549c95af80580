"""The HTTP API: who is let in, what may be asked, and which handler answers."""
