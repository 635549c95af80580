"""Where the members of an admitted request go: nodes, and devices that its quota bears."""
