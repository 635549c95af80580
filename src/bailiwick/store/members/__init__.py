"""The members of jobs that run on several leases: their table, and the queries on it."""
