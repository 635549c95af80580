"""The isolation policy as state of the kernel: what it says, what was left behind, who must go."""
