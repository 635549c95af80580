"""Who may not meet whom, and where: the operator's policy, and whether placements keep it."""
