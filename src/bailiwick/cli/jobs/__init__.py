"""Which jobs a person means, by number, index, name or filter, and how many of them look."""
