"""The fleet and its rules: nodes and their modes, quotas, shares, settings, and who leads."""
