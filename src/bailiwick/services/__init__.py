"""Use cases around the kernel: who asks, what is asked of the kernel, what is answered."""
