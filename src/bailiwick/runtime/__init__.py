"""Around the kernel: decisions made durable before they are answered, and read."""
