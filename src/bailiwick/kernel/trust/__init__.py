"""Which nodes are believed: policy, keys, verdicts, quarantines, and tokens for leases."""
