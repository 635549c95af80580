"""Shared runtimes: one instance that a tenant runs for several projects, and their part in it."""
