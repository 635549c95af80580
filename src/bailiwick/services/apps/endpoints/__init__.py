"""Endpoints of instances, served: who has one open, the way into the member, and one exchange."""
