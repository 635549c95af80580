"""The node agent: what this machine really has. It reads and reports; it executes nothing."""
