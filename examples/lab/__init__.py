"""A lab on one machine: ``make lab``. A server, four nodes, clusters, and people to be."""
