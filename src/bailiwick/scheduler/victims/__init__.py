"""Who has to go for urgent work: the cheapest leases and gangs, and how far that is proven."""
