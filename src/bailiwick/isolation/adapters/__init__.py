"""Placements as other schedulers tell them: read from their own JSON, judged by the same rules."""
