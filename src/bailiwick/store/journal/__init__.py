"""Journals as files: written, signed, proven, exported."""
