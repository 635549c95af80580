"""Scoped tokens for leases: claims, minters, the broker, and verification."""
