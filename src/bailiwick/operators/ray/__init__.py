"""Ray as an app: a head and its workers on leases, and who looks after them."""
