"""What a member serves to people by HTTP: what a manifest says of it, and what may pass."""
