"""Calls of instances while they wait: their table, and the queries on it."""
