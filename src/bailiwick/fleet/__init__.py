"""What exists: GPU devices with their generations, and what a node brings to the fleet."""
