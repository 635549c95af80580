"""Held jobs: when one is let go to the kernel, and when one that ended is tried again."""
