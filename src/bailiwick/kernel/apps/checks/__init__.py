"""Checks of apps in the kernel: what a check found is judged here, and sealed."""
