"""Operators: programs that look after instances of apps, through the public client alone."""
