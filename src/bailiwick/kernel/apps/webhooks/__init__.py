"""Webhooks in the kernel: their commands, what happened to them, and what follows from what."""
