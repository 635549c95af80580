"""Which nodes a person means, by name or by label, and what ``bailiwick node`` does with them."""
