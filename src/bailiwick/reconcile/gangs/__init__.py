"""Gangs: one job over several leases, started together, told of one another, ended together."""
