"""Bookings: whole nodes that are kept for one project from one time to another."""
