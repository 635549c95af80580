"""The server process: which requests reach the kernel over the network, and how a process lives."""
