"""Executors run the jobs of granted leases: the port, the registry, and one folder for each."""
