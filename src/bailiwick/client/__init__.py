"""Calling a server from Python: where to ask, when to ask again, and when to give up."""

from bailiwick.client.errors import ClientError, Misunderstood, Refusal, Unreachable
from bailiwick.client.http_client import Client

__all__ = ["Client", "ClientError", "Misunderstood", "Refusal", "Unreachable"]
