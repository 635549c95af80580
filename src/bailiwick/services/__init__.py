"""Around the kernel: making decisions durable before they are answered, leading and following."""
