"""What this machine has and what runs on it, read from the kernel and the driver."""
