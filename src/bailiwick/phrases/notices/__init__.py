"""What people are told, as sentences."""
