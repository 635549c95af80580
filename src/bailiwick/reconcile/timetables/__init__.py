"""What comes back by a rule in local time, and is planned ahead by the leader."""
