"""May this node be trusted: evidence, verifiers, policy and gate."""
