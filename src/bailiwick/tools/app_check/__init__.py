"""Whether an app is ready to be taken on, tried on a live control plane by its public client."""
