"""Calls of instances in the kernel: that somebody asked a running instance something is sealed."""
