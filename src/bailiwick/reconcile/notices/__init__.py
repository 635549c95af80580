"""Tells people: reads the journal and ended jobs for them, and sends what they want sent."""
