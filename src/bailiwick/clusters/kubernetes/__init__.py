"""A Kubernetes cluster, read from outside."""
