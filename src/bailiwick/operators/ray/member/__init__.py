"""What a member of a cluster runs: the standard library only, packed into one file."""
