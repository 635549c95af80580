"""What apps told of their use, beside what their members held meanwhile."""
