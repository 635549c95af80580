"""Puts a scheduler on trial, and says whether it can be driven past a policy."""
