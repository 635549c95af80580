"""What is wrong with a policy that is well written, and what it leaves open."""
