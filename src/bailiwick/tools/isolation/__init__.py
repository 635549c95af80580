"""Policies tried out before they are set: with Alloy, and on the kernel itself."""
