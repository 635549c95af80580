"""Requests and leases: who gets what, waits, is evicted, and how a lease comes to its end."""
