"""What a change would lead to, for people."""
