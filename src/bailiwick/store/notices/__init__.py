"""What people are told, kept beside the journal."""
