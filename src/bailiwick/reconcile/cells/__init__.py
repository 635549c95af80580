"""A home and its cells: the leader writes to each, and gives each request to one (:mod:`.loop`)."""
