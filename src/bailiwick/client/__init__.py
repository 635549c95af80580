"""Calling a server from Python: where to ask, when to ask again, and when to give up."""

from bailiwick.client.line_client import CallFailed, LineClient

__all__ = ["CallFailed", "LineClient"]
