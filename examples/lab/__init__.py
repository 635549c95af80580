"""A lab on one machine: ``make lab``. A server, four nodes, a cluster, and people to be."""
