"""Endpoints of instances in the kernel: that somebody opened one is sealed, and that it is over."""
