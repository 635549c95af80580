"""Sends events to webhooks: in order, again if need be, and to nowhere that they must not reach."""
